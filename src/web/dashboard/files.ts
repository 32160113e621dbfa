import { PublishedFiles, UI_FILES } from '../ui/published-files';

const files = new PublishedFiles('/assets/');

/** What every page loads. */
export const DASHBOARD_FILES = {
  style: files.publish('pages.css', `${UI_FILES}/tokens.css`, `${UI_FILES}/ui.css`),
  script: files.publish('pages.js', `${UI_FILES}/pages.js`),
  icon: files.publish('icon.svg', `${UI_FILES}/icon.svg`),
};

export const findDashboardFile = (name: string) => files.find(name);
