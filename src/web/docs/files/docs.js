// Copy buttons, tabs for the samples, and a key for the search. Every page works without it.
'use strict';

/** The language that the reader chose last, on every page. */
const CHOICE = 'docs-tab';

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

addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target.closest('input, textarea')) return;
  const field = [...document.querySelectorAll('[role=search] input')].find((input) => input.checkVisibility());
  if (!field) return;
  event.preventDefault();
  field.focus();
});
