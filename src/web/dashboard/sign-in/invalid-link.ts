import { SignInError } from '../../../errors';
import type { EndpointResponse } from '../../../http/endpoint';
import { PAGE_HEADERS } from '../../page/headers';
import type { Visit } from '../../page/page-route';
import { SIGN_IN_PATHS } from '../../page/return-paths';
import { renderMessagePage } from '../message-page';
import { DASHBOARD_TEXTS } from '../texts/texts';

interface InvalidLinkTexts {
  readonly invalidTitle: string;
  readonly invalid: string;
  readonly invalidNext: string;
}

/** What to do with a link that was used, was withdrawn, or is expired. @throws every other error */
export function invalidLinkPage({ language }: Visit, texts: InvalidLinkTexts, error: unknown): EndpointResponse {
  if (!(error instanceof SignInError) || error.reason !== 'link_invalid') throw error;
  const body = renderMessagePage({
    language,
    title: texts.invalidTitle,
    lines: [texts.invalid, texts.invalidNext],
    links: [{ href: SIGN_IN_PATHS.login, label: DASHBOARD_TEXTS[language].signIn }],
  });
  return { status: 404, headers: PAGE_HEADERS, body };
}
