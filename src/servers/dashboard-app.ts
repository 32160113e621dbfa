import type { Express } from 'express';
import { ApiError } from '../http/api-error';
import type { TrustProxy } from '../http/app';
import { publicEndpoint, publicRoute } from '../http/endpoint';
import type { DashboardDependencies } from '../web/dashboard/dashboard-dependencies';
import { findDashboardFile } from '../web/dashboard/files';
import { renderProblemPage } from '../web/dashboard/problem-page';
import { DASHBOARD_ROUTES } from '../web/dashboard/routes';
import { startDevelopmentSession } from '../web/dashboard/session/start';
import { createPageApp } from '../web/page/page-app';
import { getHealth, getReadiness } from './health';

/** The style sheet, the script and the icon. */
const getDashboardFile = publicEndpoint({
  method: 'get',
  path: '/assets/:file',
  isUnobserved: true,
  async handler(_dependencies, { params }) {
    const file = findDashboardFile(String(params.file));
    if (!file) throw new ApiError('not_found', 'There is no such file.');
    return {
      status: 200,
      headers: { 'Content-Type': file.contentType, 'Cache-Control': 'public, max-age=31536000, immutable' },
      body: file.content,
    };
  },
});

interface DashboardAppSettings {
  readonly trustProxy: TrustProxy;
  /** A sandbox that only this machine reaches: the links of `lunas up` sign in. */
  readonly hasDevelopmentLinks: boolean;
}

/** The app of the dashboard's listener. */
export function createDashboardApp(
  dependencies: DashboardDependencies,
  { trustProxy, hasDevelopmentLinks }: DashboardAppSettings,
): Express {
  const routes = [...(hasDevelopmentLinks ? [startDevelopmentSession] : []), ...DASHBOARD_ROUTES];
  return createPageApp(routes, dependencies, {
    trustProxy,
    renderProblem: (visit) => renderProblemPage(dependencies, visit),
    otherRoutes: [getHealth, getReadiness, getDashboardFile].map((endpoint) => publicRoute(dependencies, endpoint)),
  });
}
