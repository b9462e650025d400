// Makes docs/errors.md: the codes of all errors of all packages, by class, with what they mean and what to do. They are read from
// the sources: a class names the union of its codes, and the comment above each code has both sentences. Written and checked by
// scripts/generate.mjs.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packages, scope } from './workspace.mjs';

/** @typedef {{ code: string, meaning: string, remedy: string }} Code */
/** @typedef {{ name: string, base: string, from: string, about: string, codes: Code[] }} ErrorClass */

/**
 * Classes of errors that never leave their package: they end a command or become a response. Everything else that is thrown
 * on purpose belongs to the family.
 */
const internal = new Set([
  'Dropped',
  'NoAnswer',
  'ApiError',
  'BodyError',
  'ClosedPipe',
  'CliError',
  'NoLibraryError',
  'ProxyFailure',
  'RpcError',
  'ToolError',
  'UsageError',
]);

/** @param {string} comment */
const prose = (comment) =>
  comment
    .replace(/^\s*\* ?/gm, '')
    .replace(/@example[\s\S]*/, '')
    .replace(/\{@link (\w+)\}/g, '`$1`')
    .replace(/\s+/g, ' ')
    .trim();

/**
 * The codes of a union: of strings, or of facts that have a code. Undefined when the source does not have the union.
 * @param {string} source @param {string} name @returns {Code[] | undefined}
 */
export function codesOf(source, name) {
  const begin = source.indexOf(`export type ${name} =`);
  if (begin < 0) return undefined;
  const end = source.slice(begin).search(/;\n(?:\n|$)/);
  const body = source.slice(begin, end < 0 ? undefined : begin + end).replace(/^export type \w+ =/, '');
  const member =
    /(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*)?^\s*(?:\| )?(?:\{\s*readonly code: )?'(\w+)'(?=;|\s*$| \})/gm;
  return [...body.matchAll(member)].map(([, comment = '', code = '']) => {
    const text = prose(comment);
    const stop = /[.)] (?=[A-Z`])/.exec(text)?.index ?? text.length;
    return { code, meaning: text.slice(0, stop + 1), remedy: text.slice(stop + 2) };
  });
}

const declared =
  /(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?(export )?(?:abstract )?class (\w+)(<[^{>]*>)? extends (\w+)([^{]*)\{([\s\S]*?)\n\}/g;

/** The classes of errors that a source declares. @param {string} source @returns {(Omit<ErrorClass, 'codes' | 'from'> & { union: string })[]} */
export function classesOf(source) {
  return [...source.matchAll(declared)].flatMap(
    ([, about = '', , name = '', generics = '', base = '', rest = '', body = '']) => {
      const isError = /Error$|^InvalidCondition$/.test(base) || /Error$/.test(name);
      if (!isError) return [];
      const union =
        /(\w+Code)\b/.exec(generics + rest)?.[1] ??
        /(\w+)\['code'\]/.exec(rest)?.[1] ??
        /readonly code: (\w+Code)/.exec(body)?.[1] ??
        '';
      return [{ name, base, about: prose(about), union }];
    },
  );
}

/** @param {string} dir @returns {string[]} */
const sourcesOf = (dir) =>
  readdirSync(join(dir, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .sort()
    .map((file) => readFileSync(join(dir, 'src', file), 'utf8'));

/** Every class of errors that users can get, with its codes. Throws when one is outside the family or a code is not explained. */
export function family() {
  const found = /** @type {ErrorClass[]} */ ([]);
  const faults = [];
  const bases = new Set(['StreamError', 'WarehouseError']);
  for (const { name: from, dir } of packages) {
    const sources = sourcesOf(dir);
    for (const { name, base, about, union } of sources.flatMap(classesOf)) {
      if (internal.has(name) || name === 'CallsError' || name === 'Interrupted') continue;
      const codes = sources.map((source) => codesOf(source, union)).find((list) => list !== undefined) ?? [];
      const isFamily = base !== 'Error' && (base === 'CallsError' || from === 'query-dsl' || bases.has(base));
      if (!isFamily && from !== 'query-dsl')
        faults.push(`${from}: ${name} extends ${base}: extend CallsError of core/errors`);
      if (union === '' && base === 'CallsError') faults.push(`${from}: ${name} does not name its codes`);
      if (union !== '' && codes.length === 0) faults.push(`${from}: ${union} of ${name} has no codes`);
      for (const { code, meaning, remedy } of codes)
        if (meaning === '' || remedy === '')
          faults.push(`${from}: the comment of ${code} in ${union} must say what it means, then what to do`);
      found.push({ name, base, from, about, codes });
    }
  }
  if (faults.length > 0)
    throw new Error(`Errors outside the family or without explanation:\n  ${faults.join('\n  ')}`);
  return found;
}

const head = `<!-- Made by \`pnpm generate\` from the sources. Do not edit. -->
# Errors

Every error of every package is a \`CallsError\`. \`CallsError.is(error, 'rate_limited')\` recognizes one by its code and narrows its type.
What its members say is in the [README of core](../packages/core/README.md#errors). Codes are stable; messages may be reworded.
`;

/** @param {string} text */
const cell = (text) => text.replaceAll('|', '\\|');

export function generate() {
  const classes = family();
  const text = packages.flatMap(({ name: from }) => {
    const own = classes.filter((each) => each.from === from && each.codes.length > 0);
    return own.length === 0
      ? []
      : [
          `\n## ${scope}${from}`,
          ...own.flatMap(({ name, about, codes }) => [
            `\n### ${name}\n\n${about}\n\n| code | meaning | what to do |\n|---|---|---|`,
            ...codes.map(
              ({ code, meaning, remedy }) => `| \`${code}\` | ${cell(meaning)} | ${cell(remedy)} |`,
            ),
          ]),
        ];
  });
  return [{ path: 'docs/errors.md', text: `${head}${text.join('\n')}\n` }];
}
