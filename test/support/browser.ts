import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { z } from 'zod';

/** scripts/install-test-tools.sh installs it. Chromium itself draws a window, for half as much CPU again. */
const EXECUTABLE = '/usr/bin/chromium-headless-shell';

export interface WatchedPage {
  readonly page: Page;
  /** Console errors, exceptions and violations of the content security policy. */
  readonly problems: string[];
  readonly close: () => Promise<void>;
}

const REPORT_VIOLATIONS = `addEventListener('securitypolicyviolation', (event) => {
  console.error(event.violatedDirective);
});`;

export function startBrowser(): Promise<Browser> {
  // The tests run as root in a container, where Chromium has no sandbox of its own.
  return chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

/** The browser's report that it has left out the animation between two pages, since one of them was slow. */
const ENDED_TRANSITION = /^Transition was (?:aborted|skipped)/;

/** A page in a context of its own. */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
  script = '',
): Promise<WatchedPage> {
  const context = await browser.newContext({ locale: 'en-GB', ...options });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  page.on('pageerror', ({ message }) => ENDED_TRANSITION.test(message) || problems.push(message));
  await page.addInitScript(REPORT_VIOLATIONS + script);
  await page.goto(url, { waitUntil: 'load' });
  return { page, problems, close: () => context.close() };
}

const axeResult = z.object({
  violations: z.array(z.object({ id: z.string(), nodes: z.array(z.object({ html: z.string() })) })),
});

/** The source of the module itself is twice as long, and each document gets it anew. */
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** The violations of accessibility rules, with the elements that violate them. */
export async function findAccessibilityViolations(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(AXE);
  // Without the elements that pass: axe would search a selector for each, and the browser would send all of them.
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) };
  const run = `window.axe.run(${JSON.stringify(options)}).then(({ violations }) => ({ violations }))`;
  const { violations } = axeResult.parse(await page.evaluate(run));
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

/** Lists what the focus has to reach, one of the radio buttons with one name, and removes from it what it reaches. */
const WATCH_FOCUS = `(() => {
  const nameOf = ({ type, name }) => (type === 'radio' ? name : undefined);
  const controls = [...document.querySelectorAll('a[href], button, input, select, textarea, summary')];
  const reachable = controls.filter(
    (control) => control.checkVisibility() && !control.disabled && control.closest('[inert]') === null,
  );
  const hasOutline = (element) => getComputedStyle(element).outlineStyle !== 'none';
  window.unreached = new Map(reachable.map((control) => [nameOf(control) ?? control, control.outerHTML.slice(0, 120)]));
  addEventListener('focusin', ({ target }) => {
    // A field with a prefix has the outline around both.
    if (hasOutline(target) || hasOutline(target.parentElement)) unreached.delete(nameOf(target) ?? target);
  });
})()`;

/**
 * The links, buttons and fields that the key Tab does not reach, or on which the focus cannot be seen. What is inert is
 * none of them.
 */
export async function findUnreachableControls(page: Page): Promise<string[]> {
  await page.evaluate(WATCH_FOCUS);
  let left = await readUnreached(page);
  // The parts of a date have the focus one by one, and a page may begin with the focus in the middle: a second round.
  for (let round = 0; round < 2 && left.length > 0; round += 1) {
    await Promise.all(Array.from({ length: left.length + 20 }, () => page.keyboard.press('Tab')));
    left = await readUnreached(page);
  }
  return left;
}

async function readUnreached(page: Page): Promise<string[]> {
  return z.array(z.string()).parse(await page.evaluate('[...unreached.values()]'));
}

/** Nothing was found in the image. */
const NOTHING = 4;

/** What a scanner reads in an image: the texts of all codes. */
export function decodeQr(imageFile: string): string[] {
  const { status, stdout, stderr } = spawnSync('zbarimg', ['--quiet', '--raw', imageFile], { encoding: 'utf8' });
  if (status === NOTHING) return [];
  if (status !== 0) throw new Error(`zbarimg ended with ${status}: ${stderr}`);
  return stdout.trimEnd().split('\n');
}
