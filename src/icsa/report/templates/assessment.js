(function () {
  "use strict";
  function value(row, column) {
    var cell = row.cells[column], given = cell.getAttribute("data-v");
    return given === null ? cell.textContent.trim().toLowerCase() : given === "" ? null : Number(given);
  }
  function compare(a, b) {
    if (a === null || b === null) { return a === b ? 0 : a === null ? 1 : -1; }
    return a < b ? -1 : a > b ? 1 : 0;
  }
  document.querySelectorAll("table.sortable").forEach(function (table) {
    var heads = table.tHead.rows[0].cells, said = document.getElementById(table.id + "-sorted");
    Array.prototype.forEach.call(heads, function (head, column) {
      var name = head.textContent.trim(), button = document.createElement("button");
      button.type = "button";
      button.textContent = "\u2195";
      button.setAttribute("aria-label", "sort by " + name);
      head.classList.add("sorts");
      head.appendChild(document.createTextNode(" "));
      head.appendChild(button);
      head.addEventListener("click", function (event) {
        if (event.target.closest("a")) { return; }
        var up = head.getAttribute("aria-sort") !== "ascending", body = table.tBodies[0];
        Array.prototype.forEach.call(heads, function (other) {
          other.removeAttribute("aria-sort");
          other.querySelector("button").textContent = "\u2195";
        });
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        button.textContent = up ? "\u2191" : "\u2193";
        Array.prototype.slice.call(body.rows).map(function (row) {
          return [value(row, column), row];
        }).sort(function (a, b) {
          var order = compare(a[0], b[0]);
          return up || a[0] === null || b[0] === null ? order : -order;
        }).forEach(function (pair) { body.appendChild(pair[1]); });
        if (said) { said.textContent = "Sorted by " + name + (up ? ", ascending." : ", descending."); }
      });
    });
  });
  function open() {
    var target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (var at = target; at; at = at.parentElement) { if (at.tagName === "DETAILS") { at.open = true; } }
    if (target) { target.scrollIntoView(); }
  }
  window.addEventListener("hashchange", open);
  open();
}());
