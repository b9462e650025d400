import { beginning, redact } from '../privacy/redact.ts';
import { vocabulary } from './vocabulary.ts';

const word = /[\p{L}\p{M}\p{N}_’'-]+/gu;

/**
 * What an API says about its own error, fit for a log: patterns taken out by `redact`, and then everything that may be a
 * proper noun. Lower-case words, short numbers and the vocabulary of trouble stay.
 */
export function safeProse(text: string): string {
  return redact(beginning(text, 500)).replace(word, (found) => {
    if (/^\d{1,4}$/.test(found) || /^[a-z][a-z_'-]*$/.test(found) || /^\d{4}-\d\d-\d\d/.test(found))
      return found;
    if (/^\d+$/.test(found)) return '[number]';
    const parts = found.toLowerCase().split(/[_'’-]/);
    return parts.every((part) => vocabulary.has(part) || part === '') ? found : '…';
  });
}

/** Text of unknown origin, such as a gateway's page: only the vocabulary of trouble and status codes stay. */
export function knownWords(text: string): string {
  return text
    .slice(0, 200)
    .split(/\s+/)
    .map((piece) => {
      const bare = piece.toLowerCase().replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '');
      return vocabulary.has(bare) || /^[1-5]\d\d$/.test(bare) ? piece.replace(/[^\w.,:!'-]/g, '') : '…';
    })
    .join(' ')
    .replace(/…(?: …)+/g, '…');
}
