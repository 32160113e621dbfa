// Live parts, countdowns, copy buttons and a sound. Every page works without it.
'use strict';

const POLL_MS = 15_000;
const SLOW_AFTER_MS = 5 * 60_000;
const STOP_AFTER_MS = 30 * 60_000;

const { live, poll } = document.body.dataset;

function start(root) {
  startCountdowns(root);
  for (const button of root.querySelectorAll('[data-copy]')) {
    offer(button, async () => {
      await navigator.clipboard.writeText(button.dataset.copy);
      const label = button.querySelector('span') ?? button;
      const text = label.textContent;
      label.textContent = button.dataset.copied;
      setTimeout(() => (label.textContent = text), 1_500);
    });
  }
  for (const button of root.querySelectorAll('[data-print]')) offer(button, () => print());
}

function offer(button, act) {
  button.hidden = false;
  button.addEventListener('click', act);
}

/** By the server's clock. */
function startCountdowns(root) {
  for (const element of root.querySelectorAll('[data-left-ms]')) {
    const endAtMs = performance.now() + Number(element.dataset.leftMs);
    const show = () => {
      const leftMs = endAtMs - performance.now();
      const seconds = Math.max(Math.floor(leftMs / 1_000), 0);
      element.textContent = formatSecondsLeft(seconds);
      if (leftMs > 0) return setTimeout(show, 250);
      // A code must not be paid after its end, also if the service does not respond.
      for (const part of document.querySelectorAll('[data-until-end]')) part.remove();
      if (element.isConnected) setTimeout(renew, 1_000);
    };
    show();
  }
}

/** Browsers play a sound only after a gesture of the user. */
let audio;
const allowSound = () => (audio ??= new AudioContext());

function playSound() {
  if (!audio) return;
  const [tone, volume] = [audio.createOscillator(), audio.createGain()];
  tone.frequency.value = 880;
  volume.gain.setValueAtTime(0.2, audio.currentTime);
  volume.gain.exponentialRampToValueAtTime(0.001, audio.currentTime + 0.5);
  tone.connect(volume).connect(audio.destination);
  tone.start();
  tone.stop(audio.currentTime + 0.5);
}

const stateOf = (page) => page.querySelector('[data-announce]')?.textContent ?? '';
let announced = stateOf(document);
let isReading = false;
/** Something happened during the reading. */
let isOutdated = false;
let failures = 0;
let retry;

function renew() {
  isOutdated = true;
  if (!isReading) void readLatest();
}

/** A failure marks the page as outdated; it is read again. */
async function readLatest() {
  isReading = true;
  clearTimeout(retry);
  while (isOutdated) {
    isOutdated = false;
    failures = (await read().catch(() => false)) ? 0 : failures + 1;
  }
  isReading = false;
  const { classList } = document.body;
  if (failures && !classList.contains('outdated')) showSince();
  classList.toggle('outdated', failures > 0);
  if (failures) retry = setTimeout(renew, Math.min(500 * 2 ** failures, POLL_MS));
}

/** Since when the page could not be read, by the clock that its user sees. */
function showSince() {
  const note = document.querySelector('[data-since]');
  const style = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };
  const time = new Date().toLocaleTimeString(document.documentElement.lang, style);
  note?.replaceChildren(note.dataset.since.replace('{}', time));
}

/**
 * Replaces the parts that differ. What the user has opened or focused stays, except an urgent part: a code that is paid
 * must not stay because of a button below it.
 */
async function read() {
  const signal = AbortSignal.timeout(POLL_MS);
  const response = await fetch(poll || location.href, { headers: { 'X-Poll': '1' }, signal });
  if (response.status === 401) location.reload();
  if (!response.ok) return false;
  const next = new DOMParser().parseFromString(await response.text(), 'text/html');
  const state = stateOf(next);
  if (announced !== state) document.getElementById('announcement').textContent = announced = state;
  for (const part of document.querySelectorAll('[data-part]')) replacePart(part, next);
  return true;
}

function replacePart(part, next) {
  const replacement = next.querySelector(`[data-part="${part.dataset.part}"]`);
  if (!replacement || replacement.dataset.version === part.dataset.version) return;
  const isUsed = part.contains(document.activeElement) || part.querySelector('details[open]');
  if (isUsed && part.dataset.urgent === undefined) return;
  part.replaceWith(replacement);
  if (replacement.querySelector('[data-sound]') && !part.querySelector('[data-sound]')) {
    // The script of a page may speak instead.
    if (dispatchEvent(new Event('paid', { cancelable: true }))) playSound();
  }
  start(replacement);
  // If nothing has the focus (any more), the next step has it.
  if (document.activeElement === document.body) replacement.querySelector('[data-focus]')?.focus();
}

const renewIfVisible = () => document.hidden || renew();

function startPolling() {
  const openMs = performance.now();
  if (openMs > STOP_AFTER_MS) return;
  const pauseMs = openMs > SLOW_AFTER_MS ? 2 * POLL_MS : POLL_MS;
  setTimeout(() => {
    renewIfVisible();
    startPolling();
  }, pauseMs);
}

/** The browser repeats a connection that is lost, and none that is rejected, as by a proxy. */
function openStream() {
  const stream = new EventSource(live);
  stream.addEventListener('status', renew);
  stream.addEventListener('error', () => {
    if (!failures && !isReading) renewIfVisible();
    const isClosed = stream.readyState === EventSource.CLOSED;
    if (isClosed && performance.now() < STOP_AFTER_MS) setTimeout(openStream, POLL_MS);
  });
}

start(document);
document.querySelector('.script-off')?.remove();
for (const form of document.querySelectorAll('form[method=post]')) {
  form.addEventListener('submit', () => {
    for (const button of form.querySelectorAll('button')) setTimeout(() => (button.disabled = true));
  });
}
// "Back" to a rejected POST opens its form.
const { responseStatus } = performance.getEntriesByType('navigation')[0];
if (responseStatus >= 400 && responseStatus < 500) history.replaceState(null, '');
// A page from the browser's cache has its buttons again.
addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
if (live !== undefined) {
  openStream();
  for (const gesture of ['click', 'keydown']) addEventListener(gesture, allowSound, { once: true });
}
if (poll !== undefined) startPolling();
if ((live ?? poll) !== undefined) {
  for (const change of ['online', 'visibilitychange']) addEventListener(change, renewIfVisible);
}
