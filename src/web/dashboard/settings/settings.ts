import { z } from 'zod';
import { mayAccess } from '../../../domain/member-roles';
import { readAppearance } from '../../../services/merchants/appearance';
import { findIdentityInForce, fullAddressOf, openIdentityDetails } from '../../../services/merchants/merchant-identity';
import { readPolicies, readSettings, readShownNames, type ProviderPolicy } from '../../../services/merchants/settings';
import { memberPage } from '../../page/page-route';
import { formatDuration } from '../../ui/format';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { feeText } from '../fee-text';
import { merchantView, pageResponse, type MerchantView } from '../merchant-view';
import { PROVIDER_NAMES } from '../payments/provider-names';
import type { ShownIdentity } from './identity-card';
import { renderSettingsPage, type ShownTerms } from './settings-page';
import { settingsPath } from './settings-paths';

type SettingsDependencies = Pick<DashboardDependencies, 'db' | 'environment' | 'sealer'>;

const showSettings = memberPage(
  { area: 'settings', level: 'view' },
  {
    method: 'get',
    path: settingsPath.pattern,
    fields: z.object({ done: z.literal('saved').optional().catch(undefined) }),
    async handler(dependencies: SettingsDependencies, visit, query) {
      const view = merchantView(dependencies, visit);
      const { member } = visit;
      const own = await readSettings(dependencies.db, member.merchantId);
      const policies = await readPolicies(dependencies.db, member.merchantId, own.providers);
      const mayManage = mayAccess(member.role, 'settings', 'manage');
      const providers = own.providers.map((provider) => PROVIDER_NAMES[provider]);
      const html = renderSettingsPage({
        view,
        settings: { ...own, code: member.merchantCode, providers },
        appearance: await readAppearance(dependencies.db, member.merchantId),
        identity: await readIdentity(dependencies, member.merchantId, mayManage),
        shownNames: await readShownNames(dependencies.db, member.merchantId, own.providers),
        terms: policies.flatMap(termsOf(view)),
        mayEdit: mayAccess(member.role, 'settings', 'authorise'),
        mayChangeLook: mayManage,
        isSaved: query.ok && query.values.done === 'saved',
      });
      return pageResponse(html);
    },
  },
);

export const settingsPages = [showSettings];

/** The details are opened only for members who may see them. */
async function readIdentity(
  { db, sealer }: SettingsDependencies,
  merchantId: string,
  mayManage: boolean,
): Promise<ShownIdentity | null> {
  const identity = await findIdentityInForce(db, merchantId);
  if (identity === null) return null;
  if (!mayManage) return { ...identity, details: null };
  const details = await openIdentityDetails({ db, sealer }, identity);
  const { legalName, taxNumber } = details;
  return { ...identity, details: { legalName, address: fullAddressOf(details), taxNumberEnd: taxNumber.slice(-4) } };
}

const termsOf =
  ({ locale }: MerchantView) =>
  ({ provider, policy, rates }: ProviderPolicy): ShownTerms[] => {
    if (policy === null) return [];
    const { expiresInSeconds, settlementKind, settlementDelaySeconds } = policy;
    const shown = {
      provider: PROVIDER_NAMES[provider],
      fee: feeText(locale.language, { policy, rates }),
      expiresIn: formatDuration(expiresInSeconds, locale.language),
      settlement: settlementKind,
      delay: settlementDelaySeconds === 0 ? null : formatDuration(settlementDelaySeconds, locale.language),
    };
    return [shown];
  };
