// Live status, countdown, sharing, printing and the return to the shop. The page works without this file.
'use strict';

const RETRY_MS = 2_000;
const RECONNECT_MS = 5_000;
const RETURN_SECONDS = 5;
/** The time that is left, with the announcement and the look that begin there. */
const STAGES = [
  { ms: 60_000, announcement: 'oneMinute', urgency: 'last' },
  { ms: 300_000, announcement: 'fiveMinutes', urgency: 'soon' },
];

/** When the shown page was requested, by a clock that no setting of the device changes. */
let requestedAtMs = 0;
let announcedMs = Infinity;
let source = null;
let isRefreshing = false;
/** Something happened during the refresh, whose response may be older. */
let isOutdated = false;
/** The content as it was received: the script changes what is shown. */
let received = document.querySelector('main').outerHTML;
/** The countdown of the return to the shop. */
let returning;

const main = () => document.querySelector('main');
const timer = () => document.querySelector('[role=timer]');

function announce(text) {
  document.querySelector('#announcement').textContent = text;
}

/** Replaces the page's content by the current one. */
async function refresh() {
  if (isRefreshing) {
    isOutdated = true;
    return;
  }
  isRefreshing = true;
  isOutdated = false;
  const startedMs = performance.now();
  try {
    const response = await fetch(location.href, { cache: 'no-store' });
    if (!response.ok) throw new Error(`The status is ${response.status}`);
    show(new DOMParser().parseFromString(await response.text(), 'text/html'), startedMs);
  } catch {
    isOutdated = false;
    setTimeout(() => void refresh(), RETRY_MS);
  } finally {
    isRefreshing = false;
  }
  if (isOutdated) void refresh();
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
  // The countdown with its button, and the focus, stay.
  if (isSameState && next.outerHTML === received) return;
  received = next.outerHTML;
  clearInterval(returning);
  document.title = page.title;
  main().replaceWith(next);
  start();
  if (!isSameState) announce(next.querySelector('h1').textContent);
}

function start() {
  announcedMs = Infinity;
  watch();
  offerShare();
  offerPrint();
  countDown();
  returnToShop();
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
  announceTime(shown, leftMs);
}

function announceTime(shown, leftMs) {
  const stage = STAGES.find(({ ms }) => leftMs <= ms);
  shown.closest('[data-urgency]').dataset.urgency = stage?.urgency ?? 'calm';
  if (stage === undefined || stage.ms >= announcedMs) return;
  announcedMs = stage.ms;
  announce(shown.dataset[stage.announcement]);
}

/** The code must not be scanned after the deadline, also if the service cannot be reached. */
function end(title) {
  for (const part of document.querySelectorAll('[data-payable]')) part.remove();
  document.querySelector('h1').textContent = title;
  announce(title);
  main().className = 'ended';
  void refresh();
}

/** The link of the main button saves the image; where the browser can share files, it opens the choice of apps. */
function offerShare() {
  const link = document.querySelector('[data-share]');
  if (link === null) return;
  const example = new File([''], 'qris.png', { type: 'image/png' });
  const canShare = navigator.canShare?.({ files: [example] });
  link.addEventListener('click', (event) => {
    document.querySelector('[data-after-saving]').open = true;
    if (!canShare) return;
    event.preventDefault();
    void share(link.href);
  });
}

async function share(address) {
  try {
    const image = await (await fetch(address)).blob();
    await navigator.share({ files: [new File([image], 'qris.png', { type: 'image/png' })] });
  } catch {
    // The customer has closed the dialog; the image can be saved.
  }
}

function offerPrint() {
  const button = document.querySelector('[data-print]');
  if (button === null) return;
  button.hidden = false;
  button.addEventListener('click', () => print());
}

/** The tab has shown the code: a phone may discard its page while the customer is in the bank app. */
const PAYING = `paying ${location.pathname}`;

/** Whether the customer has paid in this tab. Without a storage, only this page knows it. */
function hasJustPaid() {
  try {
    const isPaying = sessionStorage.getItem(PAYING) !== null;
    if (timer() !== null) sessionStorage.setItem(PAYING, '');
    else sessionStorage.removeItem(PAYING);
    return isPaying;
  } catch {
    return false;
  }
}

/** Leads a customer who has just paid back to the shop. In a frame, the browser would refuse it without a click. */
function returnToShop() {
  const isAfterPaying = hasJustPaid();
  const shown = document.querySelector('[data-returning]');
  if (shown === null || !isAfterPaying || window.top !== window) return;
  let seconds = RETURN_SECONDS;
  const stay = () => {
    clearInterval(returning);
    shown.hidden = true;
  };
  returning = setInterval(() => {
    if (document.hidden) return;
    seconds -= 1;
    shown.querySelector('strong').textContent = String(seconds);
    if (seconds > 0) return;
    // Who comes back from the shop stays.
    stay();
    location.assign(document.querySelector('[data-return]').href);
  }, 1_000);
  shown.hidden = false;
  shown.querySelector('button').addEventListener('click', stay);
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
