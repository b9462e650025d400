/** Words that servers, gateways and login pages use when something is wrong; no name of a person or a place. */
const words =
  'a access account action after again all allowed an and any api are array at authentication authorization authorized bad be bearer ' +
  'before begin between boolean bound bracket browser busy by cannot character client cloudflare code comma connect connection contact ' +
  'content could count data database date denied disabled do does down due duplicate each empty end error exceeded exception exists ' +
  'expected expired failed failure fatal field filter for forbidden form format found from gateway given has have header host html http ' +
  'https id in inactive incorrect inside integer internal invalid ip is it json keep key keys later least length limit limited list log ' +
  'login maintenance malformed many maximum message method minimum missing most moved must name nginx no not null number object of ok on ' +
  'once only or origin out overloaded own page parameter parse password path per permission please position problem proxy query quota ' +
  'range rate reached read record records redirect refused registered request requests required reset resource response result retry ' +
  'returned row rows secret seconds server service session should sid sign signin slow sms start string success syntax system take talk ' +
  'temporarily temporary than that the then there this throttled time timed timeout title to token too try twice type unable ' +
  'unauthorized unavailable unexpected unknown unprocessable unregistered unsupported upstream url use user using valid value version ' +
  'wait was web when while with without wrong you your zone';

/** The vocabulary of trouble, in lower case. */
export const vocabulary: ReadonlySet<string> = new Set(words.split(' '));
