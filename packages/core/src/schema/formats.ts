/**
 * The formats that are checked, each in one pass over the text. Other formats only inform the reader and are not
 * checked.
 */
export const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['date', isDate],
  ['time', isTime],
  ['date-time', isDateTime],
  ['email', isEmail],
  ['hostname', isHostname],
  ['ipv4', isIpv4],
  ['ipv6', isIpv6],
  ['uri', isUri],
  ['url', isUrl],
  ['uuid', isUuid],
]);

/** The limit for texts without a natural maximum; longer ones are refused. */
const LONGEST = 8_192;

/** The steps of checking a text, in proportion to the cost. */
export function formatSteps(format: string, text: string): number {
  const length = Math.min(text.length, LONGEST);
  // A host name that is not plain ASCII is normalised, letter by letter.
  const isEncoded =
    format === 'url' && text.length <= LONGEST && /^[a-z]+:\/\/[^/?#]*(?:\P{ASCII}|%|xn--)/iu.test(text);
  return 10 + (text.length >> 2) + (isEncoded ? 4 * length : 0);
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const [year = 0, month = 0, day = 0] = text.split('-').map(Number);
  return month >= 1 && month <= 12 && day >= 1 && day <= daysOf(year, month);
}

function daysOf(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

function isTime(text: string): boolean {
  if (text.length > 64) return false;
  const match = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:z|([+-])(\d\d):(\d\d))$/i.exec(text);
  if (match === null) return false;
  const [hour = 0, minute = 0, second = 0] = match.slice(1, 4).map(Number);
  const [offsetHour = 0, offsetMinute = 0] = match.slice(5, 7).map((part) => Number(part ?? 0));
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return false;
  const offset = (match[4] === '-' ? -1 : 1) * (offsetHour * 60 + offsetMinute);
  // A leap second is the last second of a day, in universal time.
  return second < 60 || (hour * 60 + minute - offset + DAY_MINUTES) % DAY_MINUTES === DAY_MINUTES - 1;
}

const DAY_MINUTES = 24 * 60;

function isDateTime(text: string): boolean {
  return /^[t\s]$/i.test(text.charAt(10)) && isDate(text.slice(0, 10)) && isTime(text.slice(11));
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  if (at < 1 || at > 64 || text.length > 320) return false;
  const [name, host] = [text.slice(0, at), text.slice(at + 1)];
  return isMailbox(name) && (isHostname(host) || isAddressLiteral(host));
}

function isMailbox(name: string): boolean {
  if (name.startsWith('"')) return /^"(?:[ !#-[\]-~]|\\[ -~])*"$/.test(name);
  return /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+$/i.test(name) && !/^\.|\.$|\.\./.test(name);
}

function isAddressLiteral(host: string): boolean {
  if (!host.startsWith('[') || !host.endsWith(']')) return false;
  const address = host.slice(1, -1);
  return /^ipv6:/i.test(address) ? isIpv6(address.slice(5)) : isIpv4(address);
}

function isHostname(text: string): boolean {
  return text.length <= 253 && text.split('.').every(isLabel);
}

function isLabel(label: string): boolean {
  return /^[a-z0-9-]{1,63}$/i.test(label) && !label.startsWith('-') && !label.endsWith('-');
}

function isIpv4(text: string): boolean {
  const parts = text.length > 15 ? [] : text.split('.');
  return parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
}

function isIpv6(text: string): boolean {
  if (text.length > 45 || !text.includes(':')) return false;
  const halves = text.split('::');
  if (halves.length > 2) return false;
  const groups = halves.map((half, index) => groupsIn(half, index === halves.length - 1));
  if (groups.includes(undefined)) return false;
  const count = groups.reduce<number>((sum, one) => sum + (one ?? 0), 0);
  return halves.length === 2 ? count < 8 : count === 8;
}

/**
 * The number of groups of 16 bits, or undefined if one is wrong. Only the last may be an IPv4 address, which counts as
 * two.
 */
function groupsIn(half: string, isLast: boolean): number | undefined {
  if (half === '') return 0;
  const parts = half.split(':');
  const tail = isLast && isIpv4(parts.at(-1) ?? '') ? parts.pop() : undefined;
  if (!parts.every((part) => /^[0-9a-f]{1,4}$/i.test(part))) return undefined;
  return parts.length + (tail === undefined ? 0 : 2);
}

function isUri(text: string): boolean {
  if (text.length > LONGEST || !/^[a-z][a-z0-9+.-]*:[\w\-.~:/?#[\]@!$&'()*+,;=%]+$/i.test(text)) return false;
  return !/%(?![0-9a-f]{2})/i.test(text) && text.indexOf('#') === text.lastIndexOf('#') && hasPlainAuthority(text);
}

/** Brackets may only surround an IPv6 address, and a port is a number. */
function hasPlainAuthority(text: string): boolean {
  const rest = text.slice(text.indexOf(':') + 1);
  const end = rest.startsWith('//') ? rest.slice(2).search(/[/?#]/) : 0;
  const authority = rest.startsWith('//') ? rest.slice(2, end === -1 ? undefined : end + 2) : '';
  const others = rest.slice(rest.startsWith('//') ? authority.length + 2 : 0);
  const at = authority.lastIndexOf('@');
  const [user, host] = [authority.slice(0, Math.max(at, 0)), authority.slice(at + 1)];
  const name = host.startsWith('[') ? host.slice(host.indexOf(']') + 1) : host;
  const isAddress = !host.startsWith('[') || isIpv6(host.slice(1, host.indexOf(']'))) || /^\[v[0-9a-f]+\./i.test(host);
  return isAddress && /^[^[\]:@]*(?::\d*)?$/.test(name) && !/[[\]]/.test(user + others);
}

function isUrl(text: string): boolean {
  return text.length <= LONGEST && /^(?:https?|ftp):\/\/\S+$/i.test(text) && URL.canParse(text);
}

function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text);
}
