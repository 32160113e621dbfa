// The colour that is picked, and how the checkout page looks with it. Without this script the field is enough.
'use strict';

const field = document.getElementById('accent');
const picker = document.querySelector('[data-picker]');
const samples = document.querySelector('.samples');
const COLOUR = /^#[\da-f]{6}$/i;

/** The sample shows the colour: the server has a style sheet for each. */
function show(colour) {
  const link = document.querySelector('link[data-accent]') ?? document.createElement('link');
  link.rel = 'stylesheet';
  link.dataset.accent = '';
  link.href = `${samples.dataset.accents}${colour.slice(1).toLowerCase()}.css`;
  if (!link.isConnected) samples.append(link);
}

picker.hidden = false;
picker.addEventListener('input', () => {
  field.value = picker.value;
  show(picker.value);
});
field.addEventListener('input', () => {
  if (!COLOUR.test(field.value)) return;
  picker.value = field.value;
  show(field.value);
});
