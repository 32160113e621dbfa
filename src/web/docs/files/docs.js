// Copy buttons, tabs for the samples, the form that sends a request, and a key for the search. Every page can be read
// without it.
'use strict';

/** The language that the reader chose last, on every page. */
const CHOICE = 'docs-tab';
/** The tab keeps both from one page to the next. */
const KEY = 'docs-key';
const PAYMENT = 'docs-payment';

for (const code of document.querySelectorAll('.code')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy no-print';
  button.textContent = 'Copy';
  button.addEventListener('click', () => void copy(code.querySelector('code').textContent, button));
  code.append(button);
}

async function copy(text, button) {
  await navigator.clipboard.writeText(text);
  button.textContent = 'Copied';
  setTimeout(() => (button.textContent = 'Copy'), 1_500);
}

for (const [index, group] of [...document.querySelectorAll('[data-tabs]')].entries()) startTabs(group, index);

/** https://www.w3.org/WAI/ARIA/apg/patterns/tabs/ */
function startTabs(group, groupIndex) {
  const list = document.createElement('div');
  list.className = 'tab-list no-print';
  list.setAttribute('role', 'tablist');
  list.setAttribute('aria-label', group.dataset.tabs);
  const panels = [...group.querySelectorAll('[data-tab]')];
  const tabs = panels.map((panel, index) => {
    const tab = document.createElement('button');
    tab.type = 'button';
    tab.id = `tab-${groupIndex}-${index}`;
    panel.id = `${tab.id}-panel`;
    tab.textContent = panel.dataset.tab;
    tab.setAttribute('role', 'tab');
    tab.setAttribute('aria-controls', panel.id);
    panel.setAttribute('role', 'tabpanel');
    panel.setAttribute('aria-labelledby', tab.id);
    panel.querySelector('h3').hidden = true;
    tab.addEventListener('click', () => choose(index));
    return tab;
  });
  function choose(chosen) {
    for (const [index, tab] of tabs.entries()) {
      tab.setAttribute('aria-selected', String(index === chosen));
      tab.tabIndex = index === chosen ? 0 : -1;
      panels[index].hidden = index !== chosen;
    }
    localStorage.setItem(CHOICE, panels[chosen].dataset.tab);
  }
  list.addEventListener('keydown', ({ key }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (step === undefined) return;
    const next = (tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length;
    choose(next);
    tabs[next].focus();
  });
  list.append(...tabs);
  group.prepend(list);
  const known = panels.findIndex(({ dataset }) => dataset.tab === localStorage.getItem(CHOICE));
  choose(Math.max(known, 0));
}

for (const details of document.querySelectorAll('.try-it')) startTrying(details);

function startTrying(details) {
  const form = details.querySelector('form');
  const { elements } = form;
  details.hidden = false;
  elements.key.value = sessionStorage.getItem(KEY) ?? '';
  const [id, idempotencyKey] = [elements['path:id'], elements['header:Idempotency-Key']];
  if (id) id.value = sessionStorage.getItem(PAYMENT) ?? '';
  if (idempotencyKey) renewKey(idempotencyKey);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void send(form);
  });
}

/** The next request is another payment, unless the reader has given a key. */
function renewKey(field) {
  if (field.value !== field.defaultValue) return;
  field.value = field.defaultValue = `ORDER-1042-${Date.now()}`;
}

async function send(form) {
  const [button, result] = [form.querySelector('button'), form.querySelector('.tried')];
  button.disabled = true;
  result.textContent = 'Sending …';
  const { address, init } = requestOf(form);
  try {
    const response = await fetch(address, init);
    showResponse(result, response, await response.text());
    const idempotencyKey = form.elements['header:Idempotency-Key'];
    if (idempotencyKey && response.ok) renewKey(idempotencyKey);
  } catch (error) {
    result.textContent = `There was no response: ${error.message}`;
  }
  button.disabled = false;
}

function requestOf(form) {
  const fields = [...new FormData(form)].filter(([, value]) => value !== '');
  const valuesOf = (location) =>
    fields.filter(([name]) => name.startsWith(location)).map(([name, value]) => [name.slice(location.length), value]);
  const { key, body } = Object.fromEntries(fields);
  sessionStorage.setItem(KEY, key.trim());
  let address = form.dataset.address;
  for (const [name, value] of Object.entries(Object.fromEntries(valuesOf('path:')))) {
    address = address.replace(`{${name}}`, encodeURIComponent(value.trim()));
  }
  const query = String(new URLSearchParams(valuesOf('query:')));
  const headers = { Authorization: `Bearer ${key.trim()}`, ...Object.fromEntries(valuesOf('header:')) };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  return {
    address: query === '' ? address : `${address}?${query}`,
    init: { method: form.dataset.method, headers, body },
  };
}

/** What a reader needs of the headers. */
const SHOWN_HEADERS = [
  'X-Error-Reason',
  'Idempotency-Replayed',
  'X-Payment-Status',
  'X-Ignored-Fields',
  'X-Ignored-Parameters',
  'Retry-After',
  'Link',
  'X-Request-Id',
];

function showResponse(result, response, text) {
  const headers = SHOWN_HEADERS.filter((name) => response.headers.has(name)).map(
    (name) => `${name}: ${response.headers.get(name)}`,
  );
  const isJson = response.headers.get('Content-Type')?.startsWith('application/json');
  const body = isJson ? JSON.parse(text) : undefined;
  if (body?.payment?.id) sessionStorage.setItem(PAYMENT, body.payment.id);
  const [status, code] = [document.createElement('p'), document.createElement('pre')];
  status.className = `chip ${response.ok ? 'good' : 'bad'}`;
  status.textContent = `${response.status} ${response.statusText}`;
  code.tabIndex = 0;
  code.textContent = [...headers, '', isJson ? JSON.stringify(body, null, 2) : text].join('\n');
  const block = document.createElement('div');
  block.className = 'code';
  block.append(code);
  result.replaceChildren(status, block);
}

addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target.closest('input, textarea')) return;
  const field = [...document.querySelectorAll('[role=search] input')].find((input) => input.checkVisibility());
  if (!field) return;
  event.preventDefault();
  field.focus();
});
