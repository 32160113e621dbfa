// Live status, countdown and the share button. The page works without this file.
'use strict';

const RETRY_MS = 2_000;
const RECONNECT_MS = 5_000;

/** When the shown page was requested, by a clock that no setting of the device changes. */
let requestedAtMs = 0;
let announcedMs = Infinity;
let source = null;
let isRefreshing = false;

const main = () => document.querySelector('main');
const timer = () => document.querySelector('[role=timer]');

function announce(text) {
  document.querySelector('#announcement').textContent = text;
}

/** Replaces the page's content by the current one. */
async function refresh() {
  if (isRefreshing) return;
  isRefreshing = true;
  const startedMs = performance.now();
  try {
    const response = await fetch(location.href, { cache: 'no-store' });
    if (!response.ok) throw new Error(`The status is ${response.status}`);
    show(new DOMParser().parseFromString(await response.text(), 'text/html'), startedMs);
  } catch {
    setTimeout(() => void refresh(), RETRY_MS);
  } finally {
    isRefreshing = false;
  }
}

function show(page, startedMs) {
  const next = page.querySelector('main');
  const isSameState = next.className === main().className;
  requestedAtMs = startedMs;
  if (isSameState && next.dataset.millisecondsLeft !== undefined) {
    // The open steps and the focus stay.
    main().dataset.millisecondsLeft = next.dataset.millisecondsLeft;
    return;
  }
  document.title = page.title;
  main().replaceWith(next);
  start();
  if (!isSameState) announce(next.querySelector('h1').textContent);
}

function start() {
  announcedMs = Infinity;
  watch();
  offerShare();
  countDown();
}

function watch() {
  const { events } = main().dataset;
  if (events === undefined) {
    source?.close();
    source = null;
    return;
  }
  if (source !== null && source.readyState !== EventSource.CLOSED) return;
  source = new EventSource(events);
  source.addEventListener('status', () => void refresh());
  source.addEventListener('error', () => {
    // The browser connects again by itself, except after a response that is not an event stream.
    if (source?.readyState === EventSource.CLOSED) setTimeout(watch, RECONNECT_MS);
  });
}

function millisecondsLeft() {
  return Number(main().dataset.millisecondsLeft) - (performance.now() - requestedAtMs);
}

function countDown() {
  const shown = timer();
  if (shown === null) return;
  const leftMs = millisecondsLeft();
  const seconds = Math.max(Math.ceil(leftMs / 1_000), 0);
  shown.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  if (leftMs <= 0) {
    end(shown.dataset.end);
    return;
  }
  announceTime(shown.dataset, leftMs);
}

function announceTime({ fiveMinutes, oneMinute }, leftMs) {
  const announcements = [
    [60_000, oneMinute],
    [300_000, fiveMinutes],
  ];
  const due = announcements.find(([ms]) => leftMs <= ms && ms < announcedMs);
  if (due === undefined) return;
  announcedMs = due[0];
  announce(due[1]);
}

/** The code must not be scanned after the deadline, also if the service cannot be reached. */
function end(title) {
  document.querySelector('[data-payable]').remove();
  document.querySelector('h1').textContent = title;
  announce(title);
  main().className = 'ended';
  void refresh();
}

function offerShare() {
  const button = document.querySelector('[data-share]');
  const example = new File([''], 'qris.png', { type: 'image/png' });
  if (button === null || !navigator.canShare?.({ files: [example] })) return;
  button.hidden = false;
  button.addEventListener('click', () => void share(button.dataset.share));
}

async function share(address) {
  try {
    const image = await (await fetch(address)).blob();
    await navigator.share({ files: [new File([image], 'qris.png', { type: 'image/png' })] });
  } catch {
    // The customer has closed the dialog; the image can be saved.
  }
}

/** Clocks stop while a phone sleeps, and a page from the browser's history is old. */
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) void refresh();
});
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) void refresh();
});
setInterval(countDown, 250);
start();
