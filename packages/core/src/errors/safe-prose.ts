import { beginning, redact } from './redact.ts';

/** Words that servers, gateways, login pages and JavaScript use when something is wrong; none is the name of a person or a place. */
const words =
  'a access account action after again all allowed an and any api are array at authentication authorization authorized bad be ' +
  'bearer before begin between boolean bound bracket browser busy by cannot character client cloudflare code comma connect ' +
  'connection constructor contact content could count data database date defined denied disabled do does down due duplicate each ' +
  'empty end error exceeded exception exists expected expired failed failure fatal field filter for forbidden form format found ' +
  'from function gateway given has have header host html http https id in inactive incorrect inside integer internal invalid ip ' +
  'is it iterable json keep key keys later least length limit limited list log login maintenance malformed many maximum message ' +
  'method minimum missing most moved must name nginx no not null number object of ok on once only or origin out overloaded own ' +
  'page parameter parse password path per permission please position problem properties property proxy query quota range rate ' +
  'reached read reading record records redirect refused registered request requests required reset resource response result ' +
  'retry returned row rows seconds secret server service session should sid sign signin slow sms start string success syntax ' +
  'system take talk temporarily temporary than that the then there this throttled time timed timeout title to token too try ' +
  'twice type unable unauthorized unavailable undefined unexpected unknown unprocessable unregistered unsupported upstream url ' +
  'use user using valid value version wait was web when while with without wrong you your zone';

const vocabulary: ReadonlySet<string> = new Set(words.split(' '));

const word = /[\p{L}\p{M}\p{N}_’'-]+/gu;

/**
 * What an API says about its own error, safe for a log: without what `redact` removes, and without everything that may be
 * a proper noun. Lower-case words, short numbers and the words above stay.
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

/** Text of unknown origin, such as a gateway's page: only the words above and status codes stay. */
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
