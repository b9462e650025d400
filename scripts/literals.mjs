// Reads the sentences out of a TypeScript source without a parser: string and template literals, joined where the source joins
// them with +, their holes as {name}. What it needs to know of the language is where literals begin and end.

/** @typedef {{ kind: 'word' | 'sign' | 'string', text: string, line: number }} Token */

const wordAt = /[\p{ID_Start}$_][\p{ID_Continue}$]*/uy;
const numberAt = /\d[\w.]*/y;
const escapes = /** @type {Record<string, string>} */ ({ n: '\n', t: '\t', r: '\r', 0: '\0' });

/** After these a slash begins a regular expression, not a division. */
const beforePattern = /^(?:[=([{,;:!&|?+\-*%<>~^]|return|case|typeof|throw|in|of)$/;

/** @param {string} source @returns {Token[]} */
export function tokens(source) {
  const found = /** @type {Token[]} */ ([]);
  let at = 0;
  let line = 1;
  /** @param {number} to */
  const skip = (to) => {
    for (; at < to && at < source.length; at++) if (source[at] === '\n') line++;
  };

  /** The rest of a template whose opening backtick has been read. */
  const template = () => {
    let text = '';
    while (at < source.length && source[at] !== '`') {
      if (source[at] === '\\') {
        text += escapes[source[at + 1] ?? ''] ?? source[at + 1];
        skip(at + 2);
      } else if (source.startsWith('${', at)) {
        const from = found.length;
        skip(at + 2);
        until('}');
        text += hole(found.splice(from));
      } else {
        text += source[at];
        skip(at + 1);
      }
    }
    skip(at + 1);
    return text;
  };

  /** Reads tokens up to a closing sign on the same level, which is consumed. @param {string | null} close */
  const until = (close) => {
    let depth = 0;
    while (at < source.length) {
      const char = source[at] ?? '';
      if (/\s/.test(char)) skip(at + 1);
      else if (source.startsWith('//', at)) skip((source.indexOf('\n', at) + 1 || source.length + 1) - 1);
      else if (source.startsWith('/*', at)) skip(source.indexOf('*/', at) + 2);
      else if (char === '/' && beforePattern.test(found.at(-1)?.text ?? '('))
        skip(at + patternLength(source, at));
      else if (char === '`') {
        const token = { kind: /** @type {const} */ ('string'), text: '', line };
        skip(at + 1);
        token.text = template();
        found.push(token);
      } else if (char === '"' || char === "'") {
        const [raw] = /(["'])(?:\\[\s\S]|(?!\1)[^\\\n])*\1/y[Symbol.match](source.slice(at)) ?? [char];
        const text = raw.slice(1, -1).replace(/\\(.)/gs, (_, code) => escapes[code] ?? code);
        found.push({ kind: 'string', text, line });
        skip(at + raw.length);
      } else {
        const pattern = [wordAt, numberAt].find((candidate) => {
          candidate.lastIndex = at;
          return candidate.test(source);
        });
        const text = pattern ? source.slice(at, pattern.lastIndex) : char;
        if (text === close && depth === 0) return skip(at + 1);
        if ('({['.includes(text)) depth++;
        if (')}]'.includes(text)) depth--;
        found.push({ kind: pattern ? 'word' : 'sign', text, line });
        skip(at + text.length);
      }
    }
  };
  until(null);
  return found;
}

/** @param {string} source @param {number} from */
function patternLength(source, from) {
  let inClass = false;
  for (let at = from + 1; at < source.length; at++) {
    if (source[at] === '\\') at++;
    else if (source[at] === '[') inClass = true;
    else if (source[at] === ']') inClass = false;
    else if (source[at] === '/' && !inClass) return at + 1 - from;
    else if (source[at] === '\n') break;
  }
  return 1;
}

/** What stands for an expression in a template: its alternatives, or the name of what is inserted. @param {Token[]} inner */
function hole(inner) {
  const strings = inner.filter(({ kind, text }) => kind === 'string' && /[a-z]/i.test(text));
  if (strings.length > 0) return `{${strings.map(({ text }) => text).join('|')}}`;
  const words = inner.filter(
    ({ kind, text }) => kind === 'word' && !/^(?:JSON|stringify|String|\d.*)$/.test(text),
  );
  return `{${words.at(-1)?.text ?? '…'}}`;
}

/** @param {string} text */
const isProse = (text) =>
  /[a-z}]{2,}[,;:]? [a-z{"'(]/i.test(text) &&
  text.trim().split(/\s+/).length > 2 &&
  !/^\s*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|BEGIN|COMMIT|WITH|PRAGMA|LOCK|ANALYZE|SET|FROM|WHERE|AND|ON) /.test(
    text,
  ) &&
  !/^\s*<|;\s*\}|=>|^(?:[a-z_]+ ){15}/.test(text); // neither markup, style sheets and code, nor lists of words

/**
 * The sentences of a source: the line, the code or key they belong to if there is one, and the text.
 * @param {string} source @returns {{ line: number, label: string, text: string }[]}
 */
export function sentences(source) {
  const all = tokens(source);
  const found = [];
  for (let i = 0; i < all.length; i++) {
    const first = all[i];
    if (first?.kind !== 'string') continue;
    let { text } = first;
    const start = i;
    while (all[i + 1]?.text === '+' && all[i + 2]?.kind === 'string') {
      text += all[i + 2]?.text;
      i += 2;
    }
    if (isProse(text)) found.push({ line: first.line, label: labelBefore(all, start), text });
  }
  return found;
}

/** The code of the problem or the key of the property that a literal belongs to. @param {Token[]} all @param {number} at */
function labelBefore(all, at) {
  const [opening, key, colon] = all.slice(Math.max(0, at - 3), at);
  const isKey = key?.kind === 'word' || /^[\w-]+$/.test(key?.text ?? ' ');
  if (colon?.text === ':' && isKey && /^[{,]$/.test(opening?.text ?? '')) return key?.text ?? '';
  for (let i = at - 1; i >= Math.max(0, at - 14); i--) {
    const token = all[i];
    if (token?.text === ';' && token.kind === 'sign') break;
    if (token?.kind === 'string' && /^[a-z]+(?:_[a-z]+)+$/.test(token.text)) return token.text;
    if (token?.text === 'case' && all[i + 1]?.kind === 'string') return all[i + 1]?.text ?? '';
  }
  return '';
}
