// Characters that a reader does not see, or that change how the text around them is read: zero-width and joining marks,
// bidi controls, tag characters, variation selectors, fillers, soft hyphens. Agents do see them, and they have been
// used to smuggle instructions.
const invisible = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu;
const loneSurrogate = /\p{Cs}/gu;
// Everything that breaks a line or is a control character becomes one space.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
const breaks = /[\u0000-\u0020\u007F-\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]+/g;

/** Text without invisible, reordering and control characters, on one line. */
export function cleanText(text: string): string {
  return text.replace(loneSurrogate, '\uFFFD').replace(invisible, '').replace(breaks, ' ').trim();
}

/** Cuts text to `limit` characters and says how many are gone. Never cuts a surrogate pair in half. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const kept = text.slice(0, limit).replace(loneSurrogate, '');
  return `${kept}…(+${text.length - kept.length})`;
}
