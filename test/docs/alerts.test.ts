import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { METRICS } from '../../src/observability/definitions';
import { PACKAGE_ROOT } from '../../src/package-info';

/** The list of all alerts, with a section for each that has no page of its own. */
const LIST = 'docs/operations/alerts.md';

/** Metrics of Temporal's SDK, with the suffixes that src/worker/runtime.ts configures. */
const SDK_METRICS = [
  'temporal_request_failure_total',
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
/** The headings of a page, as GitHub makes anchors of them. */
const anchorsOf = (page: string) =>
  [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^a-z0-9 -]/g, '')
      .replaceAll(' ', '-'),
  );

it('each alert links to a section that exists, of a page that names the alert', () => {
  expect(links).toHaveLength(alerts.length);
  for (const [index, alert] of alerts.entries()) {
    const { page, section } = links[index] ?? { page: '', section: '' };
    expect(anchorsOf(page)).toContain(section);
    expect(read(page)).toContain(alert);
    expect(read(LIST)).toContain(alert);
  }
});

it('each section of the list is that of an alert', () => {
  const ofAlerts = links.filter(({ page }) => page === LIST).map(({ section }) => section);
  expect(anchorsOf(LIST).slice(1)).toEqual([...new Set(ofAlerts)]);
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
  const runbooks = new Set(links.map(({ page }) => page).filter((page) => page.startsWith('docs/operations/')));
  const pages = [...runbooks].map(read).join('\n\n');
  const named = [...pages.matchAll(/(?<!\w)_([A-Z][^_]+)_(?!\w)/g)];
  expect(named.length).toBeGreaterThan(10);
  expect(named.map(([, title = '']) => title.replaceAll(/\s+/g, ' ')).filter((title) => !titles.has(title))).toEqual(
    [],
  );
});
