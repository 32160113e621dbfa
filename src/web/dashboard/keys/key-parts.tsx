import type { ReactElement } from 'react';
import { keyStateOf, MERCHANT_SCOPES, type KeyAccess, type MerchantScope } from '../../../domain/key-access';
import type { FormAttributes } from '../../page/field-attributes';
import { StateChip, type Tone } from '../../ui/chip';
import { Field } from '../../ui/form';
import type { Locale } from '../../ui/format';
import type { Fact } from '../../ui/layout';
import { TextArea } from '../../ui/text-area';
import { Id, Time } from '../../ui/values';
import type { MerchantView } from '../merchant-view';
import { KEY_TEXTS, type KeyTexts } from './key-texts';

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
export function scopesText(
  texts: KeyTexts,
  scopes: ShownKey['scopes'],
  names: KeyTexts['scopes'] = texts.scopes,
): string {
  if (scopes === null || scopes.length === MERCHANT_SCOPES.length) return texts.everything;
  return MERCHANT_SCOPES.filter((scope) => scopes.includes(scope))
    .map((scope) => names[scope])
    .join(', ');
}

/** The first network, and how many more there are. */
export function networksText(texts: KeyTexts, [first, ...others]: readonly string[]): string {
  if (first === undefined) return texts.anywhere;
  return others.length === 0 ? networkText(first) : `${networkText(first)} +${others.length}`;
}

/** The network of a single address is written as the address. */
const networkText = (network: string) => network.replace(/^([\d.]+)\/32$/, '$1').replace(/^([\da-f:]+)\/128$/, '$1');

/** A day with its year, and the time. */
export function DayTime({ at, locale }: { readonly at: Date; readonly locale: Locale }): ReactElement {
  return (
    <>
      <Time at={at} style="day" locale={locale} />, <Time at={at} style="time" locale={locale} />
    </>
  );
}

/** What a key allows, from where, and until when. */
export function rightsFacts({ locale }: MerchantView, key: ShownKey): Fact[] {
  const texts = KEY_TEXTS[locale.language];
  const { columns } = texts;
  return [
    { name: columns.scopes, value: scopesText(texts, key.scopes) },
    { name: columns.networks, value: <Networks networks={key.allowedNetworks} anywhere={texts.anywhere} /> },
    {
      name: columns.expires,
      value: key.expiresAt ? <DayTime at={key.expiresAt} locale={locale} /> : texts.never,
    },
  ];
}

interface NetworksProps {
  readonly networks: readonly string[];
  readonly anywhere: string;
}

function Networks({ networks, anywhere }: NetworksProps): ReactElement {
  if (networks.length === 0) return <>{anywhere}</>;
  return (
    <ul className="plain-list">
      {networks.map((network) => (
        <li key={network}>
          <code>{networkText(network)}</code>
        </li>
      ))}
    </ul>
  );
}

/** When and from where the key was used last. */
export function LastUse({ view: { locale }, shown }: { readonly view: MerchantView; readonly shown: ShownKey }) {
  const texts = KEY_TEXTS[locale.language];
  if (!shown.lastUsedAt) return <>{texts.revoke.neverUsed}</>;
  return (
    <>
      <DayTime at={shown.lastUsedAt} locale={locale} />{' '}
      {shown.lastUsedFrom !== null && texts.detail.lastUsedFrom(shown.lastUsedFrom)}
    </>
  );
}

interface NameFieldProps {
  readonly view: MerchantView;
  readonly value: string | undefined;
  readonly error: string | undefined;
  readonly attributes: FormAttributes;
}

export function NameField({ view, value = '', error, attributes }: NameFieldProps): ReactElement {
  const { form } = KEY_TEXTS[view.locale.language];
  return (
    <Field
      name="name"
      label={form.name}
      hint={form.nameHint}
      value={value}
      error={error}
      autoComplete="off"
      {...attributes.name}
    />
  );
}

interface NetworksFieldProps {
  readonly view: MerchantView;
  readonly value: string | undefined;
  /** The address of the user's browser. */
  readonly address: string;
  readonly error: string | undefined;
  readonly attributes: FormAttributes;
}

export function NetworksField({ view, value = '', address, error, attributes }: NetworksFieldProps): ReactElement {
  const { form } = KEY_TEXTS[view.locale.language];
  return (
    <TextArea
      name="networks"
      label={form.networks}
      value={value}
      rows={3}
      {...attributes.networks}
      error={error}
      hint={
        <>
          {form.networksHint} {form.yourAddress} <Id value={address} copy={view.texts.copy} />
        </>
      }
    />
  );
}
