/** A body that each writing route of the operator API accepts. */
export function operatorBody(path: string, note: string) {
  return path.includes('/payouts') ? { note, as: 'failed', evidence: 'line 12' } : { note, as: 'paid' };
}
