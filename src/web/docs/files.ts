import { PublishedFiles, UI_FILES } from '../ui/published-files';

const DIRECTORY = 'src/web/docs/files';
const files = new PublishedFiles('/docs/files/');

/** What every page loads. */
export const DOCS_FILES = {
  ...files.publishStyle('docs.css', `${UI_FILES}/tokens.css`, `${UI_FILES}/ui.css`, `${DIRECTORY}/docs.css`),
  script: files.publish('docs.js', `${DIRECTORY}/docs.js`),
  search: files.publish('search.js', `${DIRECTORY}/search.js`),
  icon: files.publish('icon.svg', `${UI_FILES}/icon.svg`),
};

export const findDocsFile = (name: string) => files.find(name);
