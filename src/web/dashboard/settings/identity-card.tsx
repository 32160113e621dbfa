import type { ReactElement } from 'react';
import type { Language } from '../../../domain/sign-in';
import type { MerchantIdentity } from '../../../services/merchants/merchant-identity';
import type { ShownName } from '../../../services/merchants/settings';
import { formatDay } from '../../ui/format';
import { Card, Facts, type Fact } from '../../ui/layout';
import { PROVIDER_NAMES } from '../payments/provider-names';
import { IDENTITY_TEXTS } from './identity-texts';

/** Who the merchant is, as its members see it. */
export interface ShownIdentity extends Pick<MerchantIdentity, 'tradingName' | 'class' | 'nmid' | 'validUntil'> {
  /** Null: the member may not see them. */
  readonly details: {
    readonly legalName: string;
    readonly address: string;
    /** The last four digits. */
    readonly taxNumberEnd: string;
  } | null;
}

interface IdentityCardProps {
  readonly language: Language;
  /** Null: it is not known. */
  readonly identity: ShownIdentity | null;
  readonly shownNames: readonly ShownName[];
}

/** Read-only: operators set an identity, by its documents. */
export function IdentityCard({ language, identity, shownNames }: IdentityCardProps): ReactElement {
  const texts = IDENTITY_TEXTS[language];
  const names = shownNames.map(({ provider, names }) => ({
    name: texts.inApp(PROVIDER_NAMES[provider]),
    value: <bdi>{names.join(', ') || texts.unknownName}</bdi>,
  }));
  return (
    <Card title={texts.title}>
      <Facts facts={[...(identity === null ? [] : factsOf(language, identity)), ...names]} />
      <p className="card-body dim">{identity === null ? texts.none : texts.hint}</p>
    </Card>
  );
}

function factsOf(language: Language, { details, validUntil, ...identity }: ShownIdentity): Fact[] {
  const { facts, classes, noEnd } = IDENTITY_TEXTS[language];
  return [
    { name: facts.tradingName, value: <bdi>{identity.tradingName}</bdi> },
    { name: facts.class, value: classes[identity.class] },
    { name: facts.nmid, value: identity.nmid },
    { name: facts.validUntil, value: validUntil === null ? noEnd : formatDay(validUntil, language) },
    ...(details === null
      ? []
      : [
          { name: facts.legalName, value: <bdi>{details.legalName}</bdi> },
          { name: facts.address, value: <bdi>{details.address}</bdi> },
          { name: facts.taxNumber, value: `… ${details.taxNumberEnd}` },
        ]),
  ];
}
