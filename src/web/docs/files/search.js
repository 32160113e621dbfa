// Results below the field while the reader types. Without it, the form opens a page of results.
// https://www.w3.org/WAI/ARIA/apg/patterns/combobox/
'use strict';

const PAUSE_MS = 250;
const BUSY_MS = 1_000;
const MIN_LENGTH = 2;

for (const [index, form] of [...document.querySelectorAll('[role=search]')].entries()) startSearch(form, index);

function startSearch(form, formIndex) {
  const field = form.elements.q;
  const [list, count] = [document.createElement('div'), document.createElement('p')];
  list.id = `hits-${formIndex}`;
  connect(field, list);
  count.className = 'hits-count';
  count.setAttribute('role', 'status');
  form.append(count, list);
  let timer;
  let chosen = -1;

  function choose(index) {
    chosen = index;
    for (const [position, hit] of [...list.children].entries()) {
      hit.setAttribute('aria-selected', String(position === index));
    }
    const hit = list.children[index];
    hit?.scrollIntoView({ block: 'nearest' });
    if (hit) field.setAttribute('aria-activedescendant', hit.id);
    else field.removeAttribute('aria-activedescendant');
  }

  function show(hits, text) {
    list.replaceChildren(...hits);
    for (const [index, hit] of hits.entries()) hit.id = `${list.id}-${index}`;
    list.hidden = hits.length === 0;
    field.setAttribute('aria-expanded', String(hits.length > 0));
    count.textContent = text;
    choose(-1);
  }

  function close() {
    clearTimeout(timer);
    show([], '');
  }

  async function search() {
    const query = field.value.trim();
    if (query.length < MIN_LENGTH) return close();
    const response = await fetch(`/docs/search/results?q=${encodeURIComponent(query)}`).catch(() => undefined);
    // The reader has typed on, or has left the field.
    if (query !== field.value.trim() || document.activeElement !== field) return;
    if (response?.status === 429) timer = setTimeout(() => void search(), BUSY_MS);
    if (!response?.ok) return;
    const hits = [...new DOMParser().parseFromString(await response.text(), 'text/html').body.children];
    show(hits, hits.length === 0 ? form.dataset.none : form.dataset.count.replace('{}', hits.length));
  }

  field.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => void search(), PAUSE_MS);
  });
  field.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (list.hidden) return;
    // One position is the field itself: -1.
    const positions = list.children.length + 1;
    if (step) choose(((chosen + 1 + step + positions) % positions) - 1);
    else if (event.key === 'Escape') close();
    else if (event.key === 'Enter' && chosen >= 0) list.children[chosen].click();
    else return;
    event.preventDefault();
  });
  form.addEventListener('focusout', ({ relatedTarget }) => {
    if (!form.contains(relatedTarget)) close();
  });
}

function connect(field, list) {
  list.className = 'hits';
  list.hidden = true;
  list.setAttribute('role', 'listbox');
  list.setAttribute('aria-label', field.getAttribute('aria-label'));
  field.autocomplete = 'off';
  field.setAttribute('role', 'combobox');
  field.setAttribute('aria-autocomplete', 'list');
  field.setAttribute('aria-controls', list.id);
  field.setAttribute('aria-expanded', 'false');
}
