import { duration } from '../../parts/ui/time.tsx';

/** "Mon, 16 Nov, 09:00 (Europe/Berlin), in 14 h". A plan without a zone is shown in the reader's. */
export function dueInWords(at: number, now: number, timeZone: string | undefined): string {
  const zone = timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const moment = new Intl.DateTimeFormat('en-GB', {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    timeZone: zone,
  }).format(at);
  const left = at - now;
  return `${moment} (${zone}), ${left >= 0 ? `in ${duration(left)}` : `${duration(-left)} ago`}`;
}

/** The common cron expressions, in words. Others are shown as they are. */
export function cronInWords(cron: string): string {
  const [minute = '', hour = '', day, month, weekday] = cron.trim().split(/\s+/);
  const isTime = /^\d+$/.test(minute) && /^\d+$/.test(hour);
  const time = `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`;
  if (day === '*' && month === '*' && isTime) {
    if (weekday === '*') return `every day at ${time}`;
    if (/^(1-5|MON-FRI)$/i.test(weekday ?? '')) return `Monday to Friday at ${time}`;
    const name = WEEKDAYS.find((one, index) => weekday === String(index) || isShortFor(weekday, one));
    if (name !== undefined) return `every ${name} at ${time}`;
  }
  if (day === '*' && month === '*' && weekday === '*' && hour === '*') {
    if (minute === '*') return 'every minute';
    const every = /^\*\/(\d+)$/.exec(minute)?.[1];
    if (every !== undefined) return `every ${every} minutes`;
    if (/^\d+$/.test(minute)) return `every hour at :${minute.padStart(2, '0')}`;
  }
  return `cron ${cron}`;
}

function isShortFor(short: string | undefined, weekday: string): boolean {
  return short?.length === 3 && weekday.toUpperCase().startsWith(short.toUpperCase());
}

const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
