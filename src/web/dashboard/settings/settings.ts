import { z } from 'zod';
import type { Environment } from '../../../config';
import { mayAccess } from '../../../domain/member-roles';
import { formatRupiah } from '../../../domain/money';
import { contactHref, MAX_CONTACT_CHARACTERS } from '../../../domain/shop-contact';
import { TIME_ZONES } from '../../../domain/sign-in';
import { withUserAudit } from '../../../services/audit/user-audit';
import { readAppearance } from '../../../services/merchants/appearance';
import { originViolation, returnUrlViolation } from '../../../services/merchants/merchants';
import {
  changeOwnSettings,
  readPolicies,
  readSettings,
  type OwnSettings,
  type ProviderPolicy,
} from '../../../services/merchants/settings';
import { memberPage, redirectTo, type MemberVisit } from '../../page/page-route';
import type { FieldErrors, SentFields } from '../../page/read-form';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse, type MerchantView } from '../merchant-view';
import { PROVIDER_NAMES } from '../payments/provider-names';
import { userIdentity } from '../user-identity';
import { renderSettingsPage, type ShownTerms } from './settings-page';
import { SETTINGS_TEXTS, type TermDuration } from './settings-texts';

type SettingsDependencies = Pick<DashboardDependencies, 'db' | 'environment' | 'log'>;

const PATH = '/m/:code/settings';
const MAX_URL_CHARACTERS = 500;
const MAX_ORIGINS = 10;

const showSettings = memberPage(
  { area: 'settings', level: 'view' },
  {
    method: 'get',
    path: PATH,
    fields: z.object({ done: z.literal('saved').optional().catch(undefined) }),
    async handler(dependencies: SettingsDependencies, visit, query) {
      return settingsPage(dependencies, visit, { isSaved: query.ok && query.values.done === 'saved' });
    },
  },
);

const saveSettings = memberPage(
  { area: 'settings', level: 'manage' },
  {
    method: 'post',
    path: PATH,
    fields: z.object({
      zone: z.enum(TIME_ZONES, { error: 'zone' }),
      return_url: z.string().max(MAX_URL_CHARACTERS, { error: 'url' }).optional(),
      contact: z
        .string()
        .trim()
        .max(MAX_CONTACT_CHARACTERS, { error: 'contact' })
        .refine((text) => contactHref(text) !== null, { error: 'contact' })
        .optional(),
      origins: z
        .string()
        .default('')
        .transform((text) => text.split(/\s+/).filter(Boolean)),
    }),
    async handler(dependencies: SettingsDependencies, visit, form) {
      const { db, environment } = dependencies;
      if (!form.ok) return settingsPage(dependencies, visit, { sent: form.sent, errors: form.errors });
      const { zone: timeZone, return_url: returnUrl = null, contact = null, origins: checkoutOrigins } = form.values;
      const changes = { timeZone, returnUrl, contact, checkoutOrigins };
      const errors = violations(changes, environment);
      if (Object.keys(errors).length > 0) return settingsPage(dependencies, visit, { sent: form.sent, errors });
      const { merchantId, merchantCode } = visit.member;
      const action = { action: 'merchant.set', target: merchantId, detail: JSON.stringify(changes) } as const;
      await withUserAudit(db, userIdentity(dependencies, visit), action, () =>
        changeOwnSettings(db, merchantId, changes),
      );
      return redirectTo(`/m/${merchantCode}/settings?done=saved`);
    },
  },
);

export const settingsPages = [showSettings, saveSettings];

function violations({ returnUrl, checkoutOrigins }: OwnSettings, environment: Environment): FieldErrors {
  const isUrlWrong = returnUrl !== null && returnUrlViolation(returnUrl, environment) !== null;
  const areOriginsWrong =
    checkoutOrigins.length > MAX_ORIGINS ||
    checkoutOrigins.some((origin) => originViolation(origin, environment) !== null);
  return { ...(isUrlWrong && { return_url: 'url' }), ...(areOriginsWrong && { origins: 'origins' }) };
}

interface PageState {
  readonly isSaved?: boolean;
  readonly sent?: SentFields;
  readonly errors?: FieldErrors;
}

async function settingsPage(
  dependencies: SettingsDependencies,
  visit: MemberVisit,
  { isSaved = false, sent, errors = {} }: PageState,
) {
  const view = merchantView(dependencies, visit);
  const { member } = visit;
  const own = await readSettings(dependencies.db, member.merchantId);
  const appearance = await readAppearance(dependencies.db, member.merchantId);
  const policies = await readPolicies(dependencies.db, own.providers);
  const providers = own.providers.map((provider) => PROVIDER_NAMES[provider]);
  const settings = { ...own, code: member.merchantCode, providers };
  const known: Readonly<Partial<Record<string, string>>> = SETTINGS_TEXTS[view.locale.language].errors;
  const entries = Object.entries(errors).map(([name, code]) => [name, known[code] ?? known.form ?? code] as const);
  const values = sent ?? {
    zone: member.timeZone,
    return_url: settings.returnUrl ?? '',
    contact: settings.contact ?? '',
    origins: settings.checkoutOrigins.join('\n'),
  };
  const form = mayAccess(member.role, 'settings', 'manage') ? { values, errors: Object.fromEntries(entries) } : null;
  const html = renderSettingsPage({
    view,
    settings,
    appearance,
    terms: policies.flatMap(termsOf(view)),
    form,
    isSaved,
  });
  return pageResponse(html, entries.length > 0 ? 422 : 200);
}

const termsOf =
  ({ locale }: MerchantView) =>
  ({ provider, policy }: ProviderPolicy): ShownTerms[] => {
    if (policy === null) return [];
    const { feeBasisPoints, feeFlatRupiah, expiresInSeconds, settlementKind, settlementDelaySeconds } = policy;
    const shown = {
      provider: PROVIDER_NAMES[provider],
      percent: (feeBasisPoints / 100).toLocaleString(locale.language),
      flat: feeFlatRupiah === 0 ? null : formatRupiah(feeFlatRupiah),
      expiresIn: durationOf(expiresInSeconds),
      settlement: settlementKind,
      delay: settlementDelaySeconds === 0 ? null : durationOf(settlementDelaySeconds),
    };
    return [shown];
  };

/** Less than a minute is rounded up to one. */
function durationOf(seconds: number): TermDuration {
  if (seconds % 86_400 === 0) return { count: seconds / 86_400, unit: 'day' };
  if (seconds % 3_600 === 0) return { count: seconds / 3_600, unit: 'hour' };
  return { count: Math.ceil(seconds / 60), unit: 'minute' };
}
