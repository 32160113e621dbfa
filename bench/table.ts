/** @returns a table in Markdown */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** With thousands separators; empty if it is no number. */
export function whole(value: number): string {
  return Number.isFinite(value) ? Math.round(value).toLocaleString('en') : '';
}

/** Empty if it is no number. */
export function oneDigit(value: number): string {
  return Number.isFinite(value) ? value.toFixed(1) : '';
}
