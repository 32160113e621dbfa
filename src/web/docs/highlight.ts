import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import go from 'highlight.js/lib/languages/go';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';

/** The languages of the documents, by the names that their code blocks use. */
const LANGUAGES = { bash, go, js: javascript, json, php, python } as const;

export type CodeLanguage = keyof typeof LANGUAGES;

for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

/** A command of the documents has no language, and begins with one of these. */
const COMMAND = /^(?:curl|npx|npm|export|mkdir|docker|[A-Z_]+=\S+ (?:npx|node)) /;

/** @returns HTML with a class for each kind of token */
export function highlightCode(code: string, language: string | undefined): string {
  const known = language !== undefined && language in LANGUAGES ? language : COMMAND.test(code) ? 'bash' : undefined;
  return known === undefined ? escapeHtml(code) : hljs.highlight(code, { language: known }).value;
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => ESCAPES[character] ?? character);
}
