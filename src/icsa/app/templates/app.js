(function () {
  "use strict";
  var said = document.getElementById("said");
  document.documentElement.classList.add("scripted");
  function say(text) { if (said) { said.textContent = text; } }

  // What fields hold, by names that outlive the page: their form, name and, where several share it, value.
  function ticked(field) { return field.type === "checkbox" || field.type === "radio"; }
  function keyOf(field) {
    return [field.form && field.form.getAttribute("action"), field.name, ticked(field) ? field.value : ""].join("\n");
  }
  function stateOf(field) {
    if (ticked(field)) { return String(field.checked); }
    if (!field.multiple || field.type === "file") { return field.value; }
    return Array.prototype.map.call(field.selectedOptions, function (one) { return one.value; }).join("\n");
  }
  function differs(field) {
    if (!field.name || field.tagName === "BUTTON" || field.type === "hidden") { return false; }
    if (ticked(field)) { return field.checked !== field.defaultChecked; }
    if (field.tagName !== "SELECT") { return field.value !== field.defaultValue; }
    var usual = Array.prototype.filter.call(field.options, function (one) { return one.defaultSelected; });
    if (!usual.length && !field.multiple) { return field.selectedIndex > 0; }
    return Array.prototype.some.call(field.options, function (one) { return one.selected !== one.defaultSelected; });
  }
  function snapshot(fields) {
    var held = {};
    Array.prototype.forEach.call(fields, function (field) { if (field.name) { held[keyOf(field)] = stateOf(field); } });
    return held;
  }
  // What was changed after the answer was asked for is not in it: it goes over into the new page.
  function changedSince(page, sent) {
    return Array.prototype.filter.call(page.querySelectorAll("input, select, textarea"), function (field) {
      if (!differs(field) || field.name === "chosen" || field.id === "schema-text") { return false; }
      // Nothing is computed until its expression is there: the choice stays while that is typed.
      if (derives(field) && !field.closest("tr").contains(document.activeElement)) { return false; }
      return sent[keyOf(field)] !== stateOf(field);
    });
  }
  function derives(field) { return /-action$/.test(field.name) && field.value === "derive"; }
  function goOver(old, page) {
    var key = keyOf(old), field = Array.prototype.find.call(page.querySelectorAll("[name='" + CSS.escape(old.name) + "']"), function (one) { return keyOf(one) === key; });
    if (!field) { return; }
    if (ticked(old)) { if (old.type === "checkbox" || old.checked) { field.checked = old.checked; } }
    else if (old.type === "file") { field.files = old.files; }
    else if (old.multiple) { Array.prototype.forEach.call(field.options, function (one, k) { one.selected = !!old.options[k] && old.options[k].selected; }); }
    else { field.value = old.value; }
    if (derives(field)) { field.closest("tr").classList.add("opens"); }
    // Nobody tells of a text that was being typed: it is sent when it is left.
    if (old === document.activeElement && field.type === "text") { field.setAttribute("data-kept", ""); }
  }
  function topics(page) {
    return Array.prototype.map.call(page.querySelectorAll("details"), function (one) { return [one.querySelector("summary").textContent.replace(/\d+/g, ""), one]; });
  }

  // A form of the page is sent without leaving it; what comes back takes the place of the page.
  var sending = Promise.resolve(), pending = 0, swapping = false;
  function swap(html, sent) {
    var page = new DOMParser().parseFromString(html, "text/html"), now = document.getElementById("main"), old = now;
    var at = document.activeElement, name = at && at.name, id = at && at.id, start = at && at.selectionStart;
    var chosen = {}, text = document.getElementById("schema-text"), drafted = text && text.value !== text.defaultValue ? text.value : null;
    now.querySelectorAll("input[name=chosen]:checked").forEach(function (box) { chosen[box.value] = true; });
    var open = new Map(topics(now).map(function (one) { return [one[0], one[1].open]; })), later = changedSince(now, sent);
    var scrolled = Array.prototype.map.call(now.querySelectorAll(".box"), function (one) { return one.scrollLeft; });
    now = page.getElementById("main");
    later.forEach(function (field) { goOver(field, now); });
    swapping = true;  // a field that goes with the page was not left by anybody
    old.replaceWith(now);
    swapping = false;
    var nav = page.querySelector(".steps"), here = document.querySelector(".steps");
    if (nav && here) { here.replaceWith(nav); }
    topics(now).forEach(function (one) { if (open.has(one[0])) { one[1].open = open.get(one[0]); } });
    now.querySelectorAll(".box").forEach(function (one, k) { if (k < scrolled.length) { one.scrollLeft = scrolled[k]; } });
    now.querySelectorAll("input[name=chosen]").forEach(function (box) { box.checked = !!chosen[box.value]; });
    ready(now);
    text = document.getElementById("schema-text");
    if (drafted !== null && text && at && at.id === "schema-text") { text.value = drafted; }
    var row = at && at.closest && at.closest("tr[id]");
    var again = id && document.getElementById(id) || name && name !== "csrf" && now.querySelector("[name='" + CSS.escape(name) + "']");
    if (!again && row && document.getElementById(row.id)) { again = document.getElementById(row.id).querySelector("select"); }
    if (again) { again.focus({ preventScroll: true }); try { if (start !== null && again.type === "text") { again.setSelectionRange(start, start); } } catch (ignored) { /* not all have a place */ } }
    if (document.getElementById("find") && document.getElementById("find").value) { search(); }
    var told = now.querySelector("#notice, #problem, #in-order");
    if (told) { say(told.textContent.trim()); }
  }
  function send(form, fields, held) {
    var body = new URLSearchParams(fields), address = form.getAttribute("action");
    var told = { method: "POST", body: body, credentials: "same-origin" };
    pending += 1;
    document.documentElement.setAttribute("data-sending", "");
    sending = sending.then(function () { return fetch(address, told); }).then(function (answer) {
      return answer.text().then(function (html) {
        if (new URL(answer.url).pathname !== location.pathname) { location.assign(answer.url); return; }
        swap(html, held);
      });
    }).catch(function () { say("The page could not be reached: is icsa app still running?"); lost(); })
      .then(function () { pending -= 1; if (!pending) { document.documentElement.removeAttribute("data-sending"); } });
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
    if (swapping || !form || !form.hasAttribute("data-live") || field.hasAttribute("data-quiet") || !field.name) { return; }
    var row = field.closest("tr");
    if (derives(field) && row) {
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
    field.removeAttribute("data-kept");
    send(form, fields, snapshot([field]));
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
    if (form.method !== "post") { return; }
    if (form.hasAttribute("data-plain") || form.id === "release-form") {
      if (pending) { event.preventDefault(); sending.then(function () { submitted(form, event.submitter); }); }
      return;
    }
    event.preventDefault();
    var fields = Array.from(new FormData(form, event.submitter)).filter(function (pair) { return typeof pair[1] === "string"; });
    if (event.submitter && event.submitter.value === "bulk") {
      fields = fields.filter(function (pair) { return /^(csrf|do|chosen|all-)/.test(pair[0]); });
    }
    send(form, fields, snapshot(form.elements));
  });
  document.addEventListener("focusout", function (event) {
    if (event.target.hasAttribute("data-kept")) { changed(event); }
  });
  // Who goes on while an answer is under way goes on when it is there: nothing gets lost on the way.
  document.addEventListener("click", function (event) {
    var link = event.target.closest("a[href]");
    if (!link || !pending || event.button || event.ctrlKey || event.metaKey || event.shiftKey || link.origin !== location.origin || link.getAttribute("href")[0] === "#") { return; }
    event.preventDefault();
    sending.then(function () { location.assign(link.href); });
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
    if (!swapping && form && form.id === "release-form") { choose(form); }
  });
  function choose(form) { send(form, Array.from(new FormData(form)).concat([["do", "choose"]]), snapshot(form.elements)); }
  function submitted(form, by) {
    var now = Array.prototype.find.call(document.forms, function (one) { return one.getAttribute("action") === form.getAttribute("action"); });
    if (!now) { return; }
    var button = Array.prototype.find.call(now.querySelectorAll("button"), function (one) { return by && one.name === by.name && one.value === by.value; });
    if (now.hasAttribute("data-sure")) { now.submit(); } else { now.requestSubmit(button); }
  }

  function ready(where) {
    where.querySelectorAll(".copy").forEach(function (button) { button.hidden = !navigator.clipboard; });
    // A command is broken between its words only, not within an option.
    where.querySelectorAll(".typed code").forEach(function (code) {
      var words = code.textContent.split(" ");
      code.textContent = "";
      words.forEach(function (word, k) { var part = document.createElement("span"); part.textContent = word; code.append(k ? " " : "", part); });
    });
    var all = where.querySelector("#select-all");
    if (all) { all.hidden = false; }
    where.querySelectorAll("input[type=file]").forEach(function (file) { file.addEventListener("change", function () { file.setCustomValidity(""); }); });
  }
  ready(document);
  // What was changed before this script was there is sent too.
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
      if (document.getElementById("lost")) { document.getElementById("lost").remove(); }
      window.setTimeout(follow, 300);
    }).catch(function () { lost(); window.setTimeout(follow, 2000); });
  }
  // A page out of the browser's own store knows nothing of what was changed since.
  window.addEventListener("pageshow", function (event) { if (event.persisted) { location.reload(); } });
  if (document.getElementById("working")) { window.setTimeout(follow, 300); }
}());
