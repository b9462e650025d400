/**
 * Estimates how many tokens a model reads for a text, erring on the high side for JSON, names, ids and prose.
 * Tokenizers differ; this one walks runs of letters, digits and marks the way byte-pair tokenizers split text.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (const run of text.match(/[a-z]+|[A-Z][a-z]+|[A-Z]+|[0-9]+|[ \n]+|[!-/:-@[-`{-~]+|[^\0-\x7F]+|./gs) ??
    []) {
    const code = run.charCodeAt(0);
    if (code > 127) tokens += Math.ceil(Buffer.byteLength(run) / 2);
    else if (code >= 48 && code <= 57) tokens += Math.ceil(run.length / 3);
    else if ((code >= 97 && code <= 122) || (code >= 65 && code <= 90))
      tokens += run.length <= 7 ? 1 : Math.ceil(run.length / 3.5);
    else if (code === 32 || code === 10) tokens += 0.25;
    else tokens += Math.ceil(run.length / 3);
  }
  return Math.ceil(tokens);
}
