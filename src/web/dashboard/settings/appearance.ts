import { z } from 'zod';
import { readColour } from '../../../domain/accent';
import type { EndpointResponse } from '../../../http/endpoint';
import { MAX_LOGO_BYTES, readAppearance, readLogo, readLogoFile } from '../../../services/merchants/appearance';
import { removeLogo } from '../../../services/merchants/remove-logo';
import { setAccent } from '../../../services/merchants/set-accent';
import { setLogo } from '../../../services/merchants/set-logo';
import { PAGE_HEADERS } from '../../page/headers';
import { PageError } from '../../page/page-error';
import { memberPage, NO_FIELDS, redirectTo, type MemberVisit } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { submitForm } from '../form-pages';
import { merchantView, pageResponse } from '../merchant-view';
import { renderAppearancePage } from './appearance-page';
import { APPEARANCE_TEXTS, type AppearanceDone, type AppearanceError } from './appearance-texts';
import { appearancePath, logoPath, removeLogoPath, uploadLogoPath } from './settings-paths';

const MANAGE = { area: 'settings', level: 'manage' } as const;
const DONE = ['colour', 'logo', 'removed'] as const satisfies readonly AppearanceDone[];

type AppearanceDependencies = Pick<DashboardDependencies, 'db' | 'environment' | 'log'>;

/** The forms. `?accent=` is a colour to look at: it is not stored. */
const showAppearance = memberPage(MANAGE, {
  method: 'get',
  path: appearancePath.pattern,
  stepUp: true,
  fields: z.object({
    accent: z.string().max(9).optional().catch(undefined),
    done: z.enum(DONE).optional().catch(undefined),
  }),
  async handler(dependencies: AppearanceDependencies, visit, query) {
    const { accent, done } = query.ok ? query.values : {};
    return appearancePage(dependencies, visit, { accent, done });
  },
});

const saveAccent = memberPage(MANAGE, {
  method: 'post',
  path: appearancePath.pattern,
  stepUp: true,
  fields: z.object({ accent: z.string().optional() }),
  async handler(dependencies: AppearanceDependencies, visit, form) {
    const sent = form.sent.accent;
    const accent = sent === undefined ? null : readColour(sent);
    if (!form.ok || accent === undefined) return appearancePage(dependencies, visit, { accent: sent, code: 'colour' });
    await submitForm(setAccent, dependencies, visit, { accent });
    return redirectDone(visit, 'colour');
  },
});

const uploadLogo = memberPage(MANAGE, {
  method: 'post',
  path: uploadLogoPath.pattern,
  stepUp: true,
  upload: { name: 'logo', maxBytes: MAX_LOGO_BYTES },
  fields: NO_FIELDS,
  async handler(dependencies: AppearanceDependencies & Pick<DashboardDependencies, 'logoLimit'>, visit) {
    const { upload, member } = visit;
    if (typeof upload === 'string') return appearancePage(dependencies, visit, { code: upload });
    await dependencies.logoLimit.count(member.merchantId);
    const logo = await readLogoFile(upload);
    if (typeof logo === 'string') return appearancePage(dependencies, visit, { code: logo });
    await submitForm(setLogo, dependencies, visit, logo);
    return redirectDone(visit, 'logo');
  },
});

const removeLogoByForm = memberPage(MANAGE, {
  method: 'post',
  path: removeLogoPath.pattern,
  stepUp: true,
  fields: NO_FIELDS,
  async handler(dependencies: AppearanceDependencies, visit) {
    await submitForm(removeLogo, dependencies, visit, {});
    return redirectDone(visit, 'removed');
  },
});

/** The logo for the sample. */
const getLogo = memberPage(
  { area: 'settings', level: 'view' },
  {
    method: 'get',
    path: logoPath.pattern,
    isReturnTarget: false,
    fields: NO_FIELDS,
    async handler({ db }: AppearanceDependencies, { member }) {
      const body = await readLogo(db, member.merchantId);
      if (!body) throw new PageError('not_found', 'the merchant has no logo');
      return { status: 200, headers: { ...PAGE_HEADERS, 'Content-Type': 'image/png' }, body };
    },
  },
);

export const appearancePages = [showAppearance, saveAccent, uploadLogo, removeLogoByForm, getLogo];

function redirectDone(visit: MemberVisit, done: AppearanceDone): EndpointResponse {
  return redirectTo(appearancePath.to({ code: visit.member.merchantCode }, { done }));
}

interface PageState {
  /** The text of the field; undefined: the stored colour. */
  readonly accent?: string | undefined;
  readonly code?: AppearanceError;
  readonly done?: AppearanceDone | undefined;
}

async function appearancePage(
  dependencies: AppearanceDependencies,
  visit: MemberVisit,
  { accent, code, done }: PageState,
): Promise<EndpointResponse> {
  const view = merchantView(dependencies, visit);
  const stored = await readAppearance(dependencies.db, visit.member.merchantId);
  const isWrong = accent !== undefined && readColour(accent) === undefined;
  const reason = code ?? (isWrong ? 'colour' : undefined);
  const text = reason && APPEARANCE_TEXTS[view.locale.language].errors[reason];
  const html = renderAppearancePage({
    view,
    appearance: { ...stored, accent: (accent && readColour(accent)) ?? stored.accent },
    accent: accent ?? stored.accent ?? '',
    errors: text === undefined ? {} : { [reason === 'colour' ? 'accent' : 'logo']: text },
    done: done ?? null,
  });
  return pageResponse(html, text === undefined ? 200 : 422);
}
