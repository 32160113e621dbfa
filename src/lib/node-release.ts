/**
 * The last day of support of each release line of Node.js that Lunas can run with:
 * https://github.com/nodejs/Release/blob/main/schedule.json
 */
const LAST_DAYS: Readonly<Record<string, string>> = {
  20: '2026-04-30',
  21: '2024-06-01',
  22: '2027-04-30',
  23: '2025-06-01',
  24: '2028-04-30',
  25: '2026-06-01',
  26: '2029-04-30',
};

/**
 * @param version `v20.19.0`
 * @returns a sentence if the version gets no security fixes any more; null if it does, or if the table lacks it
 */
export function unsupportedNode(version: string, nowMs: number): string | null {
  const [, line = ''] = /^v(\d+)\./.exec(version) ?? [];
  const lastDay = LAST_DAYS[line];
  if (lastDay === undefined || new Date(nowMs).toISOString().slice(0, 10) <= lastDay) return null;
  return `Node.js ${version.slice(1)} is out of support since ${lastDay}: it gets no security fixes.`;
}
