import { spawnSync } from 'node:child_process';

/** The series of a page, without the buckets of histograms: name and labels as the page has them. */
export type Series = ReadonlyMap<string, number>;

/** The page of a scrape, as text. */
export async function fetchMetrics(url: string): Promise<string> {
  const response = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(60_000) });
  if (response.status !== 200) throw new Error(`${url} returned ${response.status}`);
  return response.text();
}

export function parseSeries(page: string): Series {
  const lines = page.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const entries = lines.map((line): [string, number] => {
    const end = line.lastIndexOf(' ');
    return [line.slice(0, end), Number(line.slice(end + 1))];
  });
  return new Map(entries.filter(([name]) => !/_bucket[{]/.test(name)));
}

/** How much each series changed; a new series counts from 0. Series that did not change are absent. */
export function changes(before: Series, after: Series): Record<string, number> {
  const names = new Set([...before.keys(), ...after.keys()]);
  const changed = [...names].map((name): [string, number] => [name, (after.get(name) ?? 0) - (before.get(name) ?? 0)]);
  return Object.fromEntries(changed.filter(([, change]) => change !== 0));
}

/** What `promtool check metrics` prints: nothing, if the page follows the conventions. */
export function promtoolProblems(page: string): string {
  const { error, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: page, encoding: 'utf8' });
  if (error) throw new Error('promtool is missing: run scripts/install-test-tools.sh', { cause: error });
  return stdout + stderr;
}
