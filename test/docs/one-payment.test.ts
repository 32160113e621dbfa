import { readFileSync } from 'node:fs';
import path from 'node:path';
import { PACKAGE_ROOT } from '../../src/package-info';

const text = readFileSync(path.join(PACKAGE_ROOT, 'docs', 'one-payment.md'), 'utf8');

/** `name` ([path](../path)): the page names the code of each step like this. */
const NAMED = /`(#?\w+)`(?:\s+of\s+`\w+`)?\s+\(\[[^\]]+\]\(\.\.\/([^)]+\.tsx?)\)\)/g;
const named = [...text.matchAll(NAMED)].map(([, name = '', file = '']) => ({ name, file }));
const linked = [...text.matchAll(/\]\(\.\.\/([^)]+)\)/g)].map(([, file = '']) => file);

/** A name is declared: a function, a class, a constant or a method. */
function declares(source: string, name: string): boolean {
  return new RegExp(String.raw`(?:function|class|const|interface)\s+${name}\b|^\s+(?:async\s+)?${name}\(`, 'm').test(
    source,
  );
}

const read = (file: string) => readFileSync(path.join(PACKAGE_ROOT, file), 'utf8');

describe('docs/one-payment.md', () => {
  it('docs/one-payment.md has a name for every file of code that it links', () => {
    const files = linked.filter((file) => /\.tsx?$/.test(file));
    expect(named.map(({ file }) => file)).toEqual(files);
    expect(named.length).toBeGreaterThan(20);
  });

  it.each(named)('$name is declared in $file', ({ name, file }) => {
    expect(declares(read(file), name)).toBe(true);
  });

  it('names only methods of the workflow that exist', () => {
    const methods = [...text.matchAll(/`(#\w+)`/g)].map(([, name = '']) => name);
    const workflow = read('workflows/payment.ts');
    expect(methods.filter((name) => !declares(workflow, name))).toEqual([]);
    expect(methods).toContain('#awaitSettlement');
  });

  it('links only files that exist', () => {
    expect(() => linked.map(read)).not.toThrow();
  });

  it('a name that is only used is not declared', () => {
    expect(declares('await settlePayment(input);\n', 'settlePayment')).toBe(false);
    expect(declares('export async function settlePayment() {}', 'settlePayment')).toBe(true);
  });
});
