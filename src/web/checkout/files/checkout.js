// Live status, countdown, sharing, printing and the return to the shop. The page works without this file.
'use strict';

const RETRY_MS = 2_000;
/** A page without a stream reads its status as often, and opens one again. */
const POLL_MS = 10_000;
/** Longer than a poll takes to begin: a page that polls is not outdated. */
const LOST_MS = 15_000;
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
/** The content without the time of the mark, which differs in each response. */
function contentOf(element) {
  const copy = element.cloneNode(true);
  copy.querySelector('[data-live-mark]')?.remove();
  return copy.outerHTML;
}
/** The content as it was received: the script changes what is shown. */
let received = contentOf(document.querySelector('main'));
/** The countdown of the return to the shop. */
let returning;
/** The timer of a connection that was lost. */
let lost;
/** The timer of a page whose stream was rejected. */
let polling;
/** The image of the code; null until it is there. */
let image = null;

const main = () => document.querySelector('main');
const timer = () => document.querySelector('[role=timer]');

function announce(text) {
  document.querySelector('#announcement').textContent = text;
}

/** Whether the status that is shown may be old. */
function setOffline(isOffline) {
  clearTimeout(lost);
  lost = undefined;
  const notice = document.querySelector('#offline');
  if (isOffline && notice.hidden) announce(notice.textContent);
  notice.hidden = !isOffline;
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
    setOffline(false);
  } catch {
    setOffline(true);
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
  if (isSameState && contentOf(next) === received) return;
  received = contentOf(next);
  clearInterval(returning);
  document.title = page.title;
  main().replaceWith(next);
  start();
  if (!isSameState) announce(next.querySelector('h1').textContent);
}

function start() {
  announcedMs = Infinity;
  watch();
  offerImage();
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
  source.addEventListener('open', () => setOffline(false));
  source.addEventListener('error', () => {
    lost ??= setTimeout(() => setOffline(true), LOST_MS);
    // The browser connects again by itself, except after a response that is not an event stream.
    if (source?.readyState === EventSource.CLOSED) polling ??= setTimeout(() => poll(), POLL_MS);
  });
}

function poll() {
  polling = undefined;
  watch();
  void refresh();
}

function millisecondsLeft() {
  return Number(main().dataset.millisecondsLeft) - (performance.now() - requestedAtMs);
}

function countDown() {
  const shown = timer();
  if (shown === null) return;
  const leftMs = millisecondsLeft();
  const seconds = Math.max(Math.floor(leftMs / 1_000), 0);
  shown.textContent = formatSecondsLeft(seconds);
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

const imageFile = (...parts) => new File(parts, 'qris.png', { type: 'image/png' });

/** The links save the image; where the browser can share files, the main button opens the choice of apps. */
function offerImage() {
  const link = document.querySelector('[data-share]');
  if (link === null) return;
  document.querySelector('.save').addEventListener('click', saveOffline);
  const canShare = navigator.canShare?.({ files: [imageFile()] });
  link.addEventListener('click', (event) => {
    document.querySelector('[data-after-saving]').open = true;
    if (!canShare) return saveOffline(event);
    event.preventDefault();
    void share(link.href);
  });
  // A phone may be without a connection when the customer pays.
  if (matchMedia('(any-pointer: coarse)').matches) void loadImage(link.href);
}

/** Keeps the image. Without a connection it stays as it is. */
async function loadImage(address) {
  if (image !== null) return;
  try {
    const response = await fetch(address, { priority: 'low' });
    if (response.ok) image = imageFile(await response.blob());
  } catch {
    // It is requested again when the customer saves it.
  }
}

async function share(address) {
  await loadImage(address);
  if (image === null) return setOffline(true);
  // The customer may close the dialog; the image can be saved.
  await navigator.share({ files: [image] }).catch(() => undefined);
}

/** A browser without a connection would fail to save it from its address. */
function saveOffline(event) {
  if (navigator.onLine) return;
  event.preventDefault();
  if (image === null) return setOffline(true);
  const copy = event.currentTarget.cloneNode();
  copy.href = URL.createObjectURL(image);
  copy.click();
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
    // Hidden, but as high as before: what the customer taps must not move.
    shown.dataset.stopped = '';
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
  for (const gesture of ['pointerdown', 'keydown', 'click']) addEventListener(gesture, stay, { once: true });
}

/** Clocks stop while a phone sleeps, and a page from the browser's history is old. */
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) void refresh();
});
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) void refresh();
});
addEventListener('offline', () => {
  if (main().dataset.events !== undefined) setOffline(true);
});
addEventListener('online', () => void refresh());
setInterval(countDown, 250);
start();
