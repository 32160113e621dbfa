// Live parts, countdowns, copy buttons and a sound. Every page works without it.
'use strict';

const POLL_MS = 15_000;
const SLOW_POLL_MS = 30_000;
const SLOW_AFTER_MS = 5 * 60_000;
const STOP_AFTER_MS = 30 * 60_000;

const { live, poll } = document.body.dataset;
const openedAtMs = performance.now();

/** The server's clock decides: a countdown has the time left when the page was sent. */
function startCountdowns(root) {
  for (const element of root.querySelectorAll('[data-left-ms]')) {
    const endAtMs = performance.now() + Number(element.dataset.leftMs);
    const show = () => {
      const seconds = Math.max(Math.ceil((endAtMs - performance.now()) / 1_000), 0);
      element.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
      if (seconds > 0) setTimeout(show, 250);
      else endOf(element);
    };
    show();
  }
}

/** A code must not be paid after its end, also if the service does not respond. */
function endOf(element) {
  for (const part of document.querySelectorAll('[data-until-end]')) part.remove();
  if (element.isConnected) setTimeout(() => void refresh(), 1_000);
}

function startCopying(root) {
  for (const button of root.querySelectorAll('[data-copy]')) {
    button.hidden = false;
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(button.dataset.copy);
      const label = button.textContent;
      button.textContent = button.dataset.copied;
      setTimeout(() => (button.textContent = label), 1_500);
    });
  }
}

let audio;

/** A browser plays a sound only after the user has touched the page. */
function allowSound() {
  audio ??= new AudioContext();
}

function playSound() {
  if (audio === undefined) return;
  const [tone, volume] = [audio.createOscillator(), audio.createGain()];
  tone.frequency.value = 880;
  volume.gain.setValueAtTime(0.2, audio.currentTime);
  volume.gain.exponentialRampToValueAtTime(0.001, audio.currentTime + 0.5);
  tone.connect(volume).connect(audio.destination);
  tone.start();
  tone.stop(audio.currentTime + 0.5);
}

/**
 * Reads the page again, and replaces the parts that differ. What the user has opened or focused stays, except an
 * urgent part: a code that is paid must not stay because of a button below it.
 */
async function refresh() {
  const response = await fetch(poll || location.href, { headers: { 'X-Poll': '1' } }).catch(() => undefined);
  if (response === undefined) return;
  if (response.status === 401) return location.reload();
  if (!response.ok) return;
  const next = new DOMParser().parseFromString(await response.text(), 'text/html');
  // Before the parts leave the response.
  const state = next.querySelector('[data-announce]')?.textContent ?? '';
  for (const part of document.querySelectorAll('[data-part]')) replacePart(part, next);
  const announcement = document.getElementById('announcement');
  if (announcement && announcement.dataset.shown !== state) {
    if (announcement.dataset.shown !== undefined) announcement.textContent = state;
    announcement.dataset.shown = state;
  }
}

function replacePart(part, next) {
  const replacement = next.querySelector(`[data-part="${part.dataset.part}"]`);
  if (!replacement || replacement.dataset.version === part.dataset.version) return;
  const isUsed = part.contains(document.activeElement) || part.querySelector('details[open]') !== null;
  if (isUsed && part.dataset.urgent === undefined) return;
  part.replaceWith(replacement);
  if (replacement.querySelector('[data-sound]') && !part.querySelector('[data-sound]')) playSound();
  startCountdowns(replacement);
  startCopying(replacement);
  startPrinting(replacement);
  // A focused element was removed, or nothing had the focus: the next step has it.
  if (document.activeElement === document.body) replacement.querySelector('[data-focus]')?.focus();
}

function startPrinting(root) {
  for (const button of root.querySelectorAll('[data-print]')) {
    button.hidden = false;
    button.addEventListener('click', () => print());
  }
}

function startPolling() {
  const openMs = performance.now() - openedAtMs;
  if (openMs > STOP_AFTER_MS) return;
  setTimeout(() => void refreshIfVisible().finally(startPolling), openMs > SLOW_AFTER_MS ? SLOW_POLL_MS : POLL_MS);
}

async function refreshIfVisible() {
  if (document.visibilityState === 'visible') await refresh();
}

/** The browser repeats a connection that is lost, and none that is rejected: by a proxy, while the service restarts. */
function openStream() {
  const stream = new EventSource(live);
  stream.addEventListener('status', () => void refresh());
  stream.addEventListener('error', () => {
    if (stream.readyState !== EventSource.CLOSED || performance.now() - openedAtMs > STOP_AFTER_MS) return;
    setTimeout(() => void refreshIfVisible().finally(openStream), POLL_MS);
  });
}

const first = document.querySelector('[data-announce]');
const announcement = document.getElementById('announcement');
if (first && announcement) announcement.dataset.shown = first.textContent;
startCountdowns(document);
startCopying(document);
startPrinting(document);
for (const form of document.querySelectorAll('form[method=post]')) {
  form.addEventListener('submit', () => {
    for (const button of form.querySelectorAll('button')) setTimeout(() => (button.disabled = true));
  });
}
// A page that comes back from the browser's cache has its buttons again.
addEventListener('pageshow', (event) => event.persisted && location.reload());
if (live !== undefined) {
  openStream();
  for (const gesture of ['click', 'keydown']) addEventListener(gesture, allowSound, { once: true });
}
if (poll !== undefined) startPolling();
