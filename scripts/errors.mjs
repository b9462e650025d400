// Makes docs/errors.md: the codes of all errors of all packages, with what they mean and what to
// do. They come from the classes that are thrown, which every package exports: each has a table of
// its codes, `codes`. Written and checked by scripts/generate.mjs.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { importSource } from './sources.mjs';
import { packages, root, scope } from './workspace.mjs';

/** @typedef {{ code: string, kind: string, means: string, do: string }} Code */
/** @typedef {{ means: string, exitStatus: number, isRetryable: boolean, fault: string }} Kind */
/** @typedef {{ name: string, from: string, codes: Code[] }} ErrorClass */
/**
 * @typedef {{ name: string, prototype: object, codes?: Record<string, Omit<Code, 'code'>> }} Thrown
 */

/**
 * Classes of errors that never leave their package: they end a command or become a response.
 * Everything else that is thrown on purpose belongs to the family.
 */
const internal = new Set([
  'Dropped',
  'NoAnswer',
  'BodyError',
  'ClosedPipe',
  'CliError',
  'ProxyFailure',
  'NotLoaded',
  'RpcError',
  'Interrupted',
  'Misplaced',
  'UnreadableRow',
  'ToolError',
  'UsageError',
]);

const declared = /(?:export )?(?:abstract )?class (\w+)(?:<[^{>]*>)? extends (\w+)/g;

/** The names of the classes of errors that a source declares. @param {string} source */
export const classesOf = (source) =>
  [...source.matchAll(declared)].flatMap(([, name = '', base = '']) =>
    /Error$|^InvalidCondition$/.test(base) || /Error$/.test(name) ? [name] : [],
  );

/** @param {string} dir */
const declaredIn = (dir) =>
  readdirSync(join(dir, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .sort()
    .flatMap((file) => classesOf(readFileSync(join(dir, 'src', file), 'utf8')));

/**
 * The classes of errors that a package exports, by name.
 * @param {(typeof packages)[number]} pkg
 * @returns {Promise<Map<string, Thrown>>}
 */
async function exportedBy({ dir, entries }) {
  const found = new Map();
  for (const { source } of entries) {
    if (!source.endsWith('.ts')) continue;
    for (const value of Object.values(await importSource(join(dir, source))))
      if (typeof value === 'function' && value.prototype instanceof Error)
        found.set(value.name, value);
  }

  return found;
}

/**
 * Every class of errors that users can get, with its codes. Throws when one is outside the family
 * or a code is not explained.
 */
export async function family() {
  const found = /** @type {ErrorClass[]} */ ([]);
  const faults = [];
  const brand = Symbol.for('@call-attribution/error');
  for (const pkg of packages) {
    const own = declaredIn(pkg.dir).filter((name) => !internal.has(name) && name !== 'CallsError');
    if (own.length === 0) continue;
    const exported = await exportedBy(pkg);
    for (const name of own) {
      const type = exported.get(name);
      if (type === undefined) faults.push(`${pkg.name}: ${name} is not exported`);
      else if (!(brand in type.prototype))
        faults.push(`${pkg.name}: ${name} must extend CallsError of core/errors`);
      else {
        // A class without codes of its own has those of its base.
        const codes = Object.entries(Object.hasOwn(type, 'codes') ? (type.codes ?? {}) : {}).map(
          ([code, entry]) => ({ code, ...entry }),
        );
        for (const { code, means, do: remedy } of codes)
          if (!means || !remedy)
            faults.push(`${pkg.name}: ${code} of ${name} must say what it means, then what to do`);
        found.push({ name, from: pkg.name, codes });
      }
    }
  }

  if (faults.length > 0)
    throw new Error(`Errors outside the family or without explanation:\n  ${faults.join('\n  ')}`);
  return found;
}

/**
 * A remedy that only points to the message: the head of the page says that every message has one.
 */
const inMessage = /^[^;]*\bmessage\b[^;]*$/;

/** @param {Code} entry */
const line = ({ code, kind, means, do: remedy }) =>
  `- \`${code}\` (${kind}): ${means}${inMessage.test(remedy) ? '' : ` ${remedy}`}`;

/** The codes of the service's answers, which explain themselves. @param {Code[]} codes */
const answers = (codes) => [
  'Each answer says in `detail` what is wrong and what to do; `/openapi.json` explains the codes of the API.\n',
  ...[...new Set(codes.map(({ kind }) => kind))].map((kind) => {
    const own = codes.filter((each) => each.kind === kind).map(({ code }) => `\`${code}\``);
    return `- ${kind}: ${own.join(', ')}`;
  }),
];

const head = `<!-- Made by \`pnpm generate\` from the classes. Do not edit. -->
# Errors

Every error is a \`CallsError\`; \`CallsError.is(error, 'rate_limited')\` recognizes one by its code and narrows its type. The
[README of core](../packages/core/README.md#errors) describes its members. The message says what exactly is wrong and what to do. It
never has a secret or data of a caller. Codes are stable; messages may be reworded.

\`error.kind\`, in parentheses after each code, decides the exit status of \`calls\`, and whether another try may help unless
\`error.isRetryable\` says otherwise: a response that was cut is \`data\` and worth another try. Where a code may be of two kinds, that of the
error decides. \`calls\` has four more statuses, which no kind has: 3 when the result is incomplete, 6 when \`calls get\` or \`calls fields\`
finds no such call or field, 9 when a report meets \`--fail-if\`, and 10 in place of 2 for \`retracts_much\`.

| kind | meaning | who has to act | try again | exit status |
|---|---|---|---|---|
`;

export async function generate() {
  const classes = await family();
  const { errorKinds } = /** @type {{ errorKinds: Record<string, Kind> }} */ (
    await importSource(join(root, 'packages/core/src/errors/index.ts'))
  );
  const kinds = Object.entries(errorKinds).map(
    ([kind, { means, exitStatus, isRetryable, fault }]) =>
      `| ${kind} | ${means} | ${fault} | ${isRetryable ? 'yes' : 'no'} | ${exitStatus} |`,
  );
  const text = packages.flatMap(({ name: from }) => {
    const own = classes.filter((each) => each.from === from && each.codes.length > 0);
    return own.length === 0
      ? []
      : [
          `\n## ${scope}${from}`,
          ...own.flatMap(({ name, codes }) => [
            `\n### ${name}\n`,
            ...(name === 'Refusal' ? answers(codes) : codes.map(line)),
          ]),
        ];
  });
  return [{ path: 'docs/errors.md', text: `${head}${kinds.join('\n')}\n${text.join('\n')}\n` }];
}
