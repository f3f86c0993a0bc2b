import type { Services } from '../ports/services.ts';
import { sweepAudit } from './audit/sweep-audit.ts';
import { expireDue } from './calls/expire-due.ts';
import { offerLapsed } from './calls/offer-lapsed.ts';
import { sweepConversations } from './conversations/sweep-conversations.ts';
import { sweepMcpTools } from './mcp/sweep-mcp-tools.ts';
import { sweepNotifications } from './notify/sweep-notifications.ts';
import { fireDuePlans } from './plans/fire-due-plans.ts';
import { sweepRequestTexts } from './runs/sweep-request-texts.ts';
import { sweepStreams } from './streams/sweep-streams.ts';
import { foldUsage } from './usage/fold-usage.ts';

/**
 * The periodic tasks: fire due plans, expire calls, offer lapsed jobs again, and delete old stream events, conversations, texts,
 * entries of the audit, notifications and unlisted tools, and add up what models were asked.
 */
export function sweepsOf(services: Services): readonly (() => Promise<unknown>)[] {
  return [
    () => fireDuePlans(services),
    () => expireDue(services),
    () => offerLapsed(services),
    () => sweepStreams(services),
    () => sweepConversations(services),
    () => sweepRequestTexts(services),
    () => sweepMcpTools(services),
    () => foldUsage(services),
    () => sweepAudit(services),
    () => sweepNotifications(services),
  ];
}
