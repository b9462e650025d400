// What the checks of the documentation need from Markdown: the files, their headings' anchors,
// their links, their code blocks.
import { execFileSync } from 'node:child_process';
import { root } from './workspace.mjs';

/** Every Markdown file that git knows or would add, as paths from the root. */
export const markdownFiles = () =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((file) => file !== '' && !file.endsWith('.api.md') && !file.startsWith('.changeset/'));

/** The text without its code blocks. @param {string} text */
export const withoutBlocks = (text) => text.replace(/^(```+|~~~+)[^\n]*\n[\s\S]*?^\1\s*$/gm, '');

/**
 * The same with other code taken out, so that what looks like a link or a heading in code is not
 * one.
 * @param {string} text
 */
const withoutCode = (text) =>
  withoutBlocks(text).replace(/`[^`\n]*`/g, (code) => code.replace(/[[\]()]/g, ' '));

/** What stands in backticks, outside of blocks. @param {string} text */
export const inlineCode = (text) =>
  [...withoutBlocks(text).matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);

/** Anchors as GitHub makes them from headings. @param {string} text */
export function anchors(text) {
  /** @type {Map<string, number>} */
  const seen = new Map();
  return new Set(
    [...withoutCode(text).matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm)].map(([, heading = '']) => {
      const slug = heading
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .replace(/\s/g, '-');
      const count = seen.get(slug) ?? 0;
      seen.set(slug, count + 1);
      return count === 0 ? slug : `${slug}-${count}`;
    }),
  );
}

/** Targets of inline and reference links and images. @param {string} text */
export const links = (text) =>
  [...withoutCode(text).matchAll(/\]\(\s*<?([^)\s>]+)>?[^)]*\)|^\[[^\]]+\]:\s*(\S+)/gm)].map(
    (match) => match[1] ?? match[2] ?? '',
  );

/**
 * Fenced code blocks with their language, the words after it, and the line they start at.
 * @param {string} text
 */
export function codeBlocks(text) {
  return [...text.matchAll(/^(```+)([^\n`]*)\n([\s\S]*?)^\1\s*$/gm)].map((match) => {
    const [lang = '', ...flags] = (match[2] ?? '').trim().split(/\s+/);
    return {
      lang,
      flags,
      code: match[3] ?? '',
      line: text.slice(0, match.index).split('\n').length,
    };
  });
}
