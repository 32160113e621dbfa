/*
 * A cell is a whole installation: PostgreSQL, Temporal's namespace, processes and provider accounts. Its name is in the
 * keys and references that it creates, and in the addresses for notifications, so that a router in front of several
 * cells finds the one to which a request belongs (docs/scale.md).
 */

/** Two digits of base 32 (Crockford), as the source of a pattern. */
export const CELL_DIGITS = '[0-9A-HJKMNP-TV-Z]{2}';

export const CELL = new RegExp(`^${CELL_DIGITS}$`);

/** The name of a cell that is the only one. */
export const ONLY_CELL = '00';

const OF_CELL = new RegExp(`^${CELL_DIGITS}-`);

/**
 * Where a provider sends notifications of an account.
 * @param account its id after the cell, as `07-<id>`
 */
export function notificationUrlOf(publicBaseUrl: string, account: string): string {
  return `${publicBaseUrl}/provider-notifications/${account}`;
}

/** The id of an account in the address for its notifications. Addresses from before cells have no cell. */
export function withoutCell(text: string): string {
  return text.replace(OF_CELL, '');
}
