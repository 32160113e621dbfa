import type { ReactElement } from 'react';
import { keyStateOf, MERCHANT_SCOPES, type KeyAccess, type MerchantScope } from '../../../domain/key-access';
import { StateChip, type Tone } from '../../ui/chip';
import type { KeyTexts } from './key-texts';

/** A key as pages show it. */
export interface ShownKey extends KeyAccess<MerchantScope> {
  readonly id: string;
  readonly name: string | null;
  readonly masked: string;
  readonly lastUsedAt: Date | null;
  readonly lastUsedFrom: string | null;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
}

const TONES = { active: 'good', expiring: 'warning', expired: 'neutral', revoked: 'neutral' } as const satisfies Record<
  ReturnType<typeof keyStateOf>,
  Tone
>;

interface KeyChipProps {
  readonly shown: Pick<ShownKey, 'expiresAt' | 'revokedAt'>;
  readonly nowMs: number;
  readonly texts: KeyTexts;
}

export function KeyChip({ shown, nowMs, texts }: KeyChipProps): ReactElement {
  const state = keyStateOf(shown, nowMs);
  return <StateChip tone={TONES[state]} label={texts.states[state]} />;
}

/** What the key allows, in words. A key without scopes allows everything, also what is added later. */
export function scopesText(texts: KeyTexts, scopes: ShownKey['scopes']): string {
  if (scopes === null || scopes.length === MERCHANT_SCOPES.length) return texts.everything;
  return MERCHANT_SCOPES.filter((scope) => scopes.includes(scope))
    .map((scope) => texts.scopes[scope])
    .join(', ');
}
