import type { Quotation } from './forbidden-words';
import { lineAt, withoutComments, type SourceFile, type Violation } from './rules';

const TEXT_TABLE = /^src\/web\/(?:.*\/)?(?:[\w-]*texts|texts\/[\w-]+)\.ts$/;
const STRING = /'(?<single>(?:[^'\\\n]|\\.)*)'|"(?<double>(?:[^"\\\n]|\\.)*)"|`(?<template>(?:[^`\\]|\\.)*)`/g;
const WORD = /\p{L}\S*/gu;
const MIN_WORDS = 3;

/** Labels that are equal in one language and mean different things. A sentence is none of them. */
const EQUAL_BY_CHANCE: readonly Quotation[] = [
  { text: 'Page not found', reason: "the customer's pages and the members' have texts of their own" },
  { text: 'Halaman tidak ditemukan', reason: "the customer's pages and the members' have texts of their own" },
  { text: 'Refund in progress', reason: "the customer's pages and the members' have texts of their own" },
  { text: 'Reset the login', reason: 'an action in the activity, and a button' },
  { text: 'Add a bank account', reason: 'a button and a link, which differ in Indonesian' },
  { text: 'Fee paid by', reason: 'a fact of a payment and one of a merchant, which differ in Indonesian' },
];

interface Occurrence {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

/** The pages have a text of some words once, in the table of its page or in `SHARED_EN` and `SHARED_ID`. */
export function findRepeatedTexts(sources: readonly SourceFile[]): Violation[] {
  const first = new Map<string, Occurrence>();
  return sources
    .filter(({ file }) => TEXT_TABLE.test(file))
    .flatMap(textsOf)
    .flatMap((occurrence) => {
      const { file, line, text } = occurrence;
      const earlier = first.get(text);
      if (earlier === undefined) first.set(text, occurrence);
      return earlier === undefined
        ? []
        : [{ file, line, problem: `"${text}" is in ${earlier.file}:${earlier.line}, too` }];
    });
}

function textsOf({ file, text: source }: SourceFile): Occurrence[] {
  const code = withoutComments(source);
  return [...code.matchAll(STRING)].flatMap(({ groups, index }) => {
    const text = groups?.['single'] ?? groups?.['double'] ?? groups?.['template'] ?? '';
    const isShort = (text.match(WORD)?.length ?? 0) < MIN_WORDS;
    const isByChance = EQUAL_BY_CHANCE.some((label) => label.text === text);
    return isShort || isByChance ? [] : [{ file, line: lineAt(code, index), text }];
  });
}
