import { Refusal } from './refusal.ts';

/**
 * The parameters of a query or form, decoded (a `+` is a space, as in forms). One that is unknown,
 * repeated or wrongly encoded is refused by name: nothing is ignored.
 */
export function readParameters(query: string, allowed: readonly string[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const piece of query.split('&')) {
    if (piece === '') continue;
    const equals = piece.indexOf('=');
    const name = decoded(equals < 0 ? piece : piece.slice(0, equals), 'The name of a parameter');
    if (!allowed.includes(name)) throw unknownParameter(name, allowed);
    if (found.has(name)) {
      throw new Refusal(
        'repeated_parameter',
        `The parameter ${name} is given twice. Send it once.`,
        {
          parameter: name,
        },
      );
    }
    found.set(
      name,
      decoded(equals < 0 ? '' : piece.slice(equals + 1), `The parameter ${name}`, name),
    );
  }

  return found;
}

function decoded(text: string, what: string, parameter?: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new Refusal(
      'malformed_encoding',
      `${what} is not valid percent-encoded UTF-8. Encode a space as %20 and a percent sign as %25.`,
      parameter === undefined ? {} : { parameter },
    );
  }
}

function unknownParameter(name: string, allowed: readonly string[]): Refusal {
  const shown = /^[\w.-]{1,40}$/.test(name) ? name : 'with an unusual name';
  const detail = `There is no parameter ${shown}. The parameters of this path: ${allowed.join(', ') || 'none'}.`;
  return new Refusal('unknown_parameter', detail, { parameter: name.slice(0, 40) });
}

/**
 * The value of a whole-number parameter within bounds, or the default when the request does not
 * have it.
 */
export function integerOf(
  parameters: ReadonlyMap<string, string>,
  name: string,
  bounds: { least: number; most: number; otherwise: number },
): number {
  const text = parameters.get(name);
  if (text === undefined) return bounds.otherwise;
  if (!/^(?:0|-?[1-9]\d*)$/.test(text)) {
    throw new Refusal(
      'malformed_parameter',
      `The parameter ${name} is not a whole number: expected digits only, such as ${name}=${bounds.otherwise}.`,
      { parameter: name },
    );
  }

  const value = Number(text);
  if (value < bounds.least || value > bounds.most) {
    throw new Refusal(
      'parameter_out_of_range',
      `The parameter ${name} must be from ${bounds.least} to ${bounds.most}.`,
      { parameter: name },
    );
  }

  return value;
}
