(function () {
  "use strict";
  var said = document.getElementById("said");
  document.documentElement.classList.add("scripted");
  function say(text) { if (said) { said.textContent = text; } }

  // A form of the page is sent without leaving it; what comes back takes the place of the page.
  var sending = Promise.resolve();
  function swap(html) {
    var page = new DOMParser().parseFromString(html, "text/html"), now = document.getElementById("main");
    var at = document.activeElement, name = at && at.name, id = at && at.id, start = at && at.selectionStart;
    var chosen = {}, text = document.getElementById("schema-text"), drafted = text && text.value !== text.defaultValue ? text.value : null;
    now.querySelectorAll("input[name=chosen]:checked").forEach(function (box) { chosen[box.value] = true; });
    var open = Array.prototype.map.call(now.querySelectorAll("details"), function (one) { return one.open; });
    var scrolled = Array.prototype.map.call(now.querySelectorAll(".box"), function (one) { return one.scrollLeft; });
    now.replaceWith(page.getElementById("main"));
    now = document.getElementById("main");
    var nav = page.querySelector(".steps"), here = document.querySelector(".steps");
    if (nav && here) { here.replaceWith(nav); }
    now.querySelectorAll("details").forEach(function (one, k) { if (k < open.length) { one.open = open[k]; } });
    now.querySelectorAll(".box").forEach(function (one, k) { if (k < scrolled.length) { one.scrollLeft = scrolled[k]; } });
    now.querySelectorAll("input[name=chosen]").forEach(function (box) { box.checked = !!chosen[box.value]; });
    ready(now);
    text = document.getElementById("schema-text");
    if (drafted !== null && text && at && at.id === "schema-text") { text.value = drafted; }
    var row = at && at.closest && at.closest("tr[id]");
    var again = id && document.getElementById(id) || name && name !== "csrf" && now.querySelector("[name='" + CSS.escape(name) + "']");
    if (!again && row && document.getElementById(row.id)) { again = document.getElementById(row.id).querySelector("select"); }
    if (again) { again.focus({ preventScroll: true }); try { if (start !== null && again.type === "text") { again.setSelectionRange(start, start); } } catch (ignored) { /* not all have a place */ } }
    var told = now.querySelector("#notice, #problem, #in-order");
    if (told) { say(told.textContent.trim()); }
  }
  function send(form, fields) {
    sending = sending.then(function () {
      document.documentElement.setAttribute("data-sending", "");
      return fetch(form.action, { method: "POST", body: new URLSearchParams(fields), credentials: "same-origin" });
    }).then(function (answer) {
      return answer.text().then(function (html) {
        if (new URL(answer.url).pathname !== location.pathname) { location.assign(answer.url); return; }
        swap(html);
      });
    }).catch(function () { say("The page could not be reached: is icsa app still running?"); lost(); })
      .then(function () { document.documentElement.removeAttribute("data-sending"); });
    return sending;
  }
  function lost() {
    var main = document.getElementById("main"), told = document.getElementById("lost");
    if (main && !told) {
      told = document.createElement("p"); told.id = "lost"; told.className = "banner"; told.setAttribute("role", "alert");
      told.textContent = "The page could not be reached: is icsa app still running?";
      main.prepend(told);
    }
  }

  // On the columns' page a change is sent by itself: this field, and nothing else of the form.
  function changed(event) {
    var field = event.target, form = field.form;
    if (!form || !form.hasAttribute("data-live") || field.hasAttribute("data-quiet") || !field.name) { return; }
    var row = field.closest("tr");
    if (/-action$/.test(field.name) && field.value === "derive" && row) {
      row.classList.add("opens");
      var expression = row.querySelector(".derive");
      if (expression && !expression.value) { expression.focus(); return; }
    }
    var fields = [["csrf", form.elements.csrf.value]];
    if (field.name === "strata") { fields.push(["has-strata", "1"]); }
    if (/^switch-/.test(field.name)) { fields.push(["has-" + field.name, "1"]); }
    if (field.type === "checkbox") { if (field.checked) { fields.push([field.name, "on"]); } }
    else if (field.multiple) { Array.prototype.forEach.call(field.selectedOptions, function (one) { fields.push([field.name, one.value]); }); }
    else { fields.push([field.name, field.value]); }
    send(form, fields);
  }
  function search() {
    var field = document.getElementById("find");
    if (!field || document.querySelector("a[href*='from=']")) { return; }
    var wanted = field.value.trim().toLowerCase(), shown = 0;
    document.querySelectorAll("table.columns tbody tr").forEach(function (row) {
      var name = row.querySelector("th").textContent.toLowerCase() + " " + row.querySelector("[name$='-kind']").value;
      row.hidden = name.indexOf(wanted) < 0;
      shown += row.hidden ? 0 : 1;
    });
    say(shown + " columns shown");
  }

  document.addEventListener("change", changed);
  document.addEventListener("input", function (event) { if (event.target.id === "find") { search(); } });
  document.addEventListener("submit", function (event) {
    var form = event.target, sure = form.getAttribute("data-sure");
    if (sure && !window.confirm(sure)) { event.preventDefault(); return; }
    var file = form.querySelector("input[type=file][data-most]");
    if (file && file.files[0] && file.files[0].size > Number(file.getAttribute("data-most"))) {
      event.preventDefault();
      file.setCustomValidity("The file is larger than " + Math.round(Number(file.getAttribute("data-most")) / 1048576) + " MB. Type its path instead.");
      file.reportValidity();
      return;
    }
    if (form.method !== "post" || form.hasAttribute("data-plain") || form.id === "release-form") { return; }
    event.preventDefault();
    var fields = Array.from(new FormData(form, event.submitter)).filter(function (pair) { return typeof pair[1] === "string"; });
    if (event.submitter && event.submitter.value === "bulk") {
      fields = fields.filter(function (pair) { return /^(csrf|do|chosen|all-)/.test(pair[0]); });
    }
    send(form, fields);
  });
  document.addEventListener("click", function (event) {
    var button = event.target.closest("button");
    if (!button) { return; }
    if (button.classList.contains("copy")) {
      navigator.clipboard.writeText(button.previousElementSibling.textContent).then(function () { button.textContent = "Copied"; say("Copied"); });
    } else if (button.id === "select-all") {
      document.querySelectorAll("table.columns tbody tr:not([hidden]) input[name=chosen]").forEach(function (box) { box.checked = true; });
    }
  });
  document.addEventListener("keydown", function (event) {
    if ((event.ctrlKey || event.metaKey) && event.key === "z" && !/^(INPUT|TEXTAREA)$/.test(event.target.tagName)) {
      var undo = document.getElementById("undo");
      if (undo && !undo.disabled) { event.preventDefault(); undo.click(); }
    }
  });
  // What was chosen is shown in the command at once.
  document.addEventListener("change", function (event) {
    var form = event.target.form;
    if (form && form.id === "release-form") { choose(form); }
  });
  function choose(form) { send(form, Array.from(new FormData(form)).concat([["do", "choose"]])); }

  function ready(where) {
    where.querySelectorAll(".copy").forEach(function (button) { button.hidden = !navigator.clipboard; });
    var all = where.querySelector("#select-all");
    if (all) { all.hidden = false; }
    where.querySelectorAll("input[type=file]").forEach(function (file) { file.addEventListener("change", function () { file.setCustomValidity(""); }); });
  }
  ready(document);
  // What was changed before this script was there is sent too.
  function differs(field) {
    if (!field.name || field.tagName === "BUTTON") { return false; }
    if (field.type === "checkbox" || field.type === "radio") { return field.checked !== field.defaultChecked; }
    if (field.tagName !== "SELECT") { return field.type !== "hidden" && field.value !== field.defaultValue; }
    var usual = Array.prototype.filter.call(field.options, function (one) { return one.defaultSelected; });
    if (!usual.length && !field.multiple) { return field.selectedIndex > 0; }
    return Array.prototype.some.call(field.options, function (one) { return one.selected !== one.defaultSelected; });
  }
  document.querySelectorAll("form[data-live]").forEach(function (form) {
    Array.prototype.filter.call(form.elements, differs).forEach(function (field) { changed({ target: field }); });
  });
  var choices = document.getElementById("release-form");
  if (choices && Array.prototype.some.call(choices.elements, differs)) { choose(choices); }

  function words(seconds) { return seconds < 100 ? seconds + " s" : Math.floor(seconds / 60) + " min " + seconds % 60 + " s"; }
  function follow() {
    fetch("/working/progress", { credentials: "same-origin" }).then(function (answer) { return answer.json(); }).then(function (told) {
      if (told.state !== "running") { location.replace("/working"); return; }
      document.getElementById("stage").textContent = told.stage;
      document.getElementById("left").textContent = told.left === null ? "" : "about " + words(told.left) + (told.parts > 1 ? " left in this part" : " left");
      document.getElementById("elapsed").textContent = words(told.elapsed) + " so far";
      var part = document.getElementById("part"), bar = document.getElementById("bar");
      if (part) { part.textContent = told.part; }
      if (told.percent === null) { bar.removeAttribute("value"); } else { bar.value = told.percent; }
      window.setTimeout(follow, 300);
    }).catch(lost);
  }
  if (document.getElementById("working")) { window.setTimeout(follow, 300); }
}());
