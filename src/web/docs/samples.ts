import type { CodeLanguage } from './highlight';
import type { ApiOperation } from './openapi-document';

type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [name: string]: JsonValue };

/** A request as the samples of every language send it. Address, key and payment come from the environment. */
interface SampleRequest {
  readonly method: 'GET' | 'POST';
  /** What precedes the id of the payment, and what follows it; without the second: no id. */
  readonly path: readonly [before: string, after?: string];
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: JsonValue;
}

interface SampleLanguage {
  readonly name: string;
  readonly highlighting: CodeLanguage;
  readonly write: (request: SampleRequest) => string;
}

export interface CodeSample {
  /** `curl`, or the name of the language. */
  readonly name: string;
  readonly highlighting: CodeLanguage;
  readonly code: string;
}

/** The languages of the samples, in the order of the tabs. */
const LANGUAGES: readonly SampleLanguage[] = [
  { name: 'curl', highlighting: 'bash', write: writeCurl },
  { name: 'Node.js', highlighting: 'js', write: writeNode },
  { name: 'Python', highlighting: 'python', write: writePython },
  { name: 'PHP', highlighting: 'php', write: writePhp },
  { name: 'Go', highlighting: 'go', write: writeGo },
];

/** What the samples of an operation have beside what it requires. */
const ADDITIONS: Readonly<Record<string, { readonly query?: string; readonly idempotencyKey?: string }>> = {
  createPayment: { idempotencyKey: 'ORDER-1042-1' },
  createPaymentLink: { idempotencyKey: 'ORDER-1042-1' },
  listTransactions: { query: '?status=paid&limit=10' },
};

/** One request in each language, from the first example of the operation. */
export function samplesOf(operation: ApiOperation): CodeSample[] {
  const request = requestOf(operation);
  return LANGUAGES.map(({ name, highlighting, write }) => ({ name, highlighting, code: write(request) }));
}

function requestOf({ operationId, method, path, requestBody }: ApiOperation): SampleRequest {
  const { query = '', idempotencyKey } = ADDITIONS[operationId] ?? {};
  const [before = '', after] = path.split('{id}');
  const [example] = Object.values(requestBody?.content['application/json'].examples ?? {});
  return {
    method,
    path: after === undefined ? [before + query] : [before, after + query],
    headers: {
      ...(example && { 'Content-Type': 'application/json' }),
      ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
    },
    ...(example && { body: example.value }),
  };
}

function writeCurl({ method, path, headers, body }: SampleRequest): string {
  const isImplied = method === 'GET' || body !== undefined;
  return [
    `curl -sS ${isImplied ? '' : `-X ${method} `}"$LUNAS_URL${path.join('$PAYMENT_ID')}"`,
    '-H "Authorization: Bearer $LUNAS_KEY"',
    ...Object.entries(headers).map(([name, value]) => `-H '${name}: ${value}'`),
    ...(body === undefined ? [] : [`-d '${JSON.stringify(body, null, 2).replaceAll('\n', '\n  ')}'`]),
  ].join(' \\\n  ');
}

function writeNode({ method, path, headers, body }: SampleRequest): string {
  const lines = [
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    '  headers: {',
    '    Authorization: `Bearer ${process.env.LUNAS_KEY}`,',
    ...Object.entries(headers).map(([name, value]) => `    '${name}': '${value}',`),
    '  },',
    ...(body === undefined ? [] : [`  body: JSON.stringify(${writeLiteral(body, JAVASCRIPT, '  ')}),`]),
  ];
  return `const response = await fetch(\`\${process.env.LUNAS_URL}${path.join('${process.env.PAYMENT_ID}')}\`, {
${lines.join('\n')}
});
console.log(response.status, await response.json());`;
}

function writePython({ method, path, headers, body }: SampleRequest): string {
  const address = `f"{os.environ['LUNAS_URL']}${path.join("{os.environ['PAYMENT_ID']}")}"`;
  const lines = [
    `    ${address},`,
    ...(method === 'GET' ? [] : [`    method="${method}",`]),
    '    headers={',
    `        "Authorization": f"Bearer {os.environ['LUNAS_KEY']}",`,
    ...Object.entries(headers).map(([name, value]) => `        "${name}": "${value}",`),
    '    },',
    ...(body === undefined ? [] : [`    data=json.dumps(${writeLiteral(body, PYTHON, '    ')}).encode(),`]),
  ];
  return `import json
import os
import urllib.error
import urllib.request

request = urllib.request.Request(
${lines.join('\n')}
)
try:
    response = urllib.request.urlopen(request)
except urllib.error.HTTPError as error:
    response = error
with response:
    print(response.status, json.load(response))`;
}

function writePhp({ method, path: [before, after], headers, body }: SampleRequest): string {
  const id = after === undefined ? '' : ` . getenv('PAYMENT_ID')${after === '' ? '' : ` . '${after}'`}`;
  const lines = [
    `    'method' => '${method}',`,
    "    'header' => [",
    "        'Authorization: Bearer ' . getenv('LUNAS_KEY'),",
    ...Object.entries(headers).map(([name, value]) => `        '${name}: ${value}',`),
    '    ],',
    ...(body === undefined ? [] : [`    'content' => json_encode(${writeLiteral(body, PHP, '    ')}),`]),
    "    'ignore_errors' => true,",
  ];
  return `<?php
$url = getenv('LUNAS_URL') . '${before}'${id};
$context = stream_context_create(['http' => [
${lines.join('\n')}
]]);
$response = file_get_contents($url, false, $context);
echo $http_response_header[0], ' ', $response, "\n";`;
}

function writeGo({ method, path: [before, after], headers, body }: SampleRequest): string {
  const id = after === undefined ? '' : ` + os.Getenv("PAYMENT_ID")${after === '' ? '' : ` + "${after}"`}`;
  const reader = body === undefined ? 'nil' : `strings.NewReader(\`${JSON.stringify(body)}\`)`;
  const packages = ['fmt', 'io', 'net/http', 'os', ...(body === undefined ? [] : ['strings'])];
  const fields = Object.entries(headers).map(([name, value]) => `\n\trequest.Header.Set("${name}", "${value}")`);
  return `package main

import (
${packages.map((name) => `\t"${name}"`).join('\n')}
)

func main() {
	url := os.Getenv("LUNAS_URL") + "${before}"${id}
	request, err := http.NewRequest("${method}", url, ${reader})
	if err != nil {
		panic(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("LUNAS_KEY"))${fields.join('')}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		panic(err)
	}
	fmt.Println(response.StatusCode, string(body))
}`;
}

/** How a language writes a value of JSON. */
interface LiteralSyntax {
  readonly object: readonly [open: string, close: string];
  readonly pair: (name: string, value: string) => string;
  readonly indentation: string;
  readonly quote: (text: string) => string;
  readonly words: Readonly<Record<'true' | 'false' | 'null', string>>;
}

const singleQuoted = (text: string) => `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`;
const JSON_WORDS = { true: 'true', false: 'false', null: 'null' };
const JAVASCRIPT: LiteralSyntax = {
  object: ['{', '}'],
  pair: (name, value) => `${name}: ${value}`,
  indentation: '  ',
  quote: singleQuoted,
  words: JSON_WORDS,
};
const PYTHON: LiteralSyntax = {
  object: ['{', '}'],
  pair: (name, value) => `"${name}": ${value}`,
  indentation: '    ',
  quote: (text) => JSON.stringify(text),
  words: { true: 'True', false: 'False', null: 'None' },
};
const PHP: LiteralSyntax = {
  object: ['[', ']'],
  pair: (name, value) => `'${name}' => ${value}`,
  indentation: '    ',
  quote: singleQuoted,
  words: JSON_WORDS,
};

function writeLiteral(value: JsonValue, syntax: LiteralSyntax, indentation: string): string {
  if (typeof value === 'string') return syntax.quote(value);
  if (typeof value === 'number') return String(value);
  if (value === null || typeof value === 'boolean') return syntax.words[`${value}`];
  const inner = indentation + syntax.indentation;
  const isList = isArray(value);
  const [open, close] = isList ? ['[', ']'] : syntax.object;
  const entries = isList
    ? value.map((item) => writeLiteral(item, syntax, inner))
    : Object.entries(value).map(([name, item]) => syntax.pair(name, writeLiteral(item, syntax, inner)));
  return `${open}\n${entries.map((entry) => `${inner}${entry},\n`).join('')}${indentation}${close}`;
}

/** `Array.isArray` does not narrow a readonly type. */
const isArray = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value);
