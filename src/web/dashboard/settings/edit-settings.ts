import { z } from 'zod';
import type { Environment } from '../../../config';
import { contactHref, MAX_CONTACT_CHARACTERS } from '../../../domain/shop-contact';
import { TIME_ZONES } from '../../../domain/sign-in';
import { withUserAudit } from '../../../services/audit/user-audit';
import { originViolation, returnUrlViolation } from '../../../services/merchants/merchants';
import { changeOwnSettings, readSettings, type OwnSettings } from '../../../services/merchants/settings';
import { memberPage, NO_FIELDS, redirectTo, type MemberVisit } from '../../page/page-route';
import type { FieldErrors, SentFields } from '../../page/read-form';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse } from '../merchant-view';
import { userIdentity } from '../user-identity';
import { renderEditSettingsPage } from './edit-settings-page';
import { SETTINGS_TEXTS } from './settings-texts';

type EditDependencies = Pick<DashboardDependencies, 'db' | 'environment' | 'log'>;

/** The checkout page sends customers to the return address: a thief of it gets their trust. */
const AUTHORISE = { area: 'settings', level: 'authorise' } as const;
const PATH = '/m/:code/settings/edit';
const MAX_URL_CHARACTERS = 500;
const MAX_ORIGINS = 10;

const editSettingsForm = memberPage(AUTHORISE, {
  method: 'get',
  path: PATH,
  stepUp: true,
  fields: NO_FIELDS,
  async handler(dependencies: EditDependencies, visit) {
    const { returnUrl, contact, checkoutOrigins } = await readSettings(dependencies.db, visit.member.merchantId);
    const values = {
      zone: visit.member.timeZone,
      return_url: returnUrl ?? '',
      contact: contact ?? '',
      origins: checkoutOrigins.join('\n'),
    };
    return formPage(dependencies, visit, values, {});
  },
});

const saveSettings = memberPage(AUTHORISE, {
  method: 'post',
  path: PATH,
  stepUp: true,
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
  async handler(dependencies: EditDependencies, visit, form) {
    const { db, environment } = dependencies;
    if (!form.ok) return formPage(dependencies, visit, form.sent, form.errors);
    const { zone: timeZone, return_url: returnUrl = null, contact = null, origins: checkoutOrigins } = form.values;
    const changes = { timeZone, returnUrl, contact, checkoutOrigins };
    const errors = violations(changes, environment);
    if (Object.keys(errors).length > 0) return formPage(dependencies, visit, form.sent, errors);
    const { merchantId, merchantCode } = visit.member;
    const action = { action: 'merchant.set', target: merchantId, detail: JSON.stringify(changes) } as const;
    await withUserAudit(db, userIdentity(dependencies, visit), action, () =>
      changeOwnSettings(db, merchantId, changes),
    );
    return redirectTo(`/m/${merchantCode}/settings?done=saved`);
  },
});

export const editSettingsPages = [editSettingsForm, saveSettings];

function violations({ returnUrl, checkoutOrigins }: OwnSettings, environment: Environment): FieldErrors {
  const isUrlWrong = returnUrl !== null && returnUrlViolation(returnUrl, environment) !== null;
  const areOriginsWrong =
    checkoutOrigins.length > MAX_ORIGINS ||
    checkoutOrigins.some((origin) => originViolation(origin, environment) !== null);
  return { ...(isUrlWrong && { return_url: 'url' }), ...(areOriginsWrong && { origins: 'origins' }) };
}

function formPage(dependencies: EditDependencies, visit: MemberVisit, values: SentFields, errors: FieldErrors) {
  const view = merchantView(dependencies, visit);
  const known: Readonly<Partial<Record<string, string>>> = SETTINGS_TEXTS[view.locale.language].errors;
  const entries = Object.entries(errors).map(([name, code]) => [name, known[code] ?? known.form ?? code] as const);
  const html = renderEditSettingsPage({ view, values, errors: Object.fromEntries(entries) });
  return pageResponse(html, entries.length > 0 ? 422 : 200);
}
