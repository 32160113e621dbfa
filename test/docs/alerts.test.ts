import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { METRICS } from '../../src/observability/definitions';
import { PACKAGE_ROOT } from '../../src/package-info';

const PAGES = 'docs/operations/alerts';
/** Every page has these parts, in this order. */
const SECTIONS = ['What it means', 'What to look at', 'What to do', 'When it is over'];

/** Metrics of Temporal's SDK, with the suffixes that src/worker/runtime.ts configures. */
const SDK_METRICS = [
  'temporal_worker_task_slots_available',
  'temporal_workflow_task_execution_failed_total',
  'temporal_workflow_task_schedule_to_start_latency_seconds',
];

const read = (file: string) => readFileSync(path.join(PACKAGE_ROOT, file), 'utf8');
const rules = read('deploy/prometheus/rules.yaml');
const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);
const links = [...rules.matchAll(/runbook_url: (\S+)#(\S+)/g)].map(([, page = '', section = '']) => ({
  page,
  section,
}));
const sectionsOf = (page: string) => [...read(page).matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading);

it('each alert links to a section of a runbook that exists', () => {
  expect(links).toHaveLength(alerts.length);
  const anchors = links.map(({ page }) =>
    sectionsOf(page).map((heading) => heading.toLowerCase().replaceAll(' ', '-')),
  );
  expect(anchors.map((known, index) => known.includes(links[index]?.section ?? ''))).not.toContain(false);
});

it('each page names its alerts, has every part, and is in the list', () => {
  const pages = readdirSync(path.join(PACKAGE_ROOT, PAGES)).filter((name) => name !== 'README.md');
  expect(pages.map((name) => `${PAGES}/${name}`).toSorted()).toEqual(
    [...new Set(links.map(({ page }) => page))].toSorted(),
  );
  const list = read(`${PAGES}/README.md`);
  for (const [index, alert] of alerts.entries()) {
    const page = links[index]?.page ?? '';
    expect(read(page)).toContain(`\`${alert}\``);
    expect(sectionsOf(page)).toEqual(SECTIONS);
    expect(list).toContain(`](${path.basename(page)})`);
    expect(list).toContain(`\`${alert}\``);
  }
});

it('the rules use only exported metrics', () => {
  const exported = new Set<string>([...Object.keys(METRICS), ...SDK_METRICS]);
  const used = [...rules.matchAll(/(?<!:)\b(?:lunas|temporal|process)_\w+/g)].map(([name]) => name);
  expect(used.length).toBeGreaterThan(alerts.length);
  expect(used.filter((name) => !exported.has(name.replace(/_(?:bucket|count|sum)$/, '')))).toEqual([]);
});

it('each panel that a page names exists', () => {
  const dashboards = readdirSync(path.join(PACKAGE_ROOT, 'deploy/grafana')).map((name) =>
    read(`deploy/grafana/${name}`),
  );
  const titles = new Set([...dashboards.join().matchAll(/"title": "([^"]+)"/g)].map(([, title]) => title));
  const pages = links.map(({ page }) => read(page)).join('\n\n');
  const named = [...pages.matchAll(/(?<!\w)_([A-Z][^_]+)_(?!\w)/g)];
  expect(named.length).toBeGreaterThan(10);
  expect(named.map(([, title = '']) => title.replaceAll(/\s+/g, ' ')).filter((title) => !titles.has(title))).toEqual(
    [],
  );
});
