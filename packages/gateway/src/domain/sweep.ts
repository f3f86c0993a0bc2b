import type { Services } from '../ports/services.ts';
import { sweepAudit } from './audit/sweep-audit.ts';
import { expireDue } from './calls/expire-due.ts';
import { offerLapsed } from './calls/offer-lapsed.ts';
import { sweepConversations } from './conversations/sweep-conversations.ts';
import type { ErasureServices } from './erasure/erasure-job.ts';
import { performErasures } from './erasure/perform-erasures.ts';
import { sweepMcpTools } from './mcp/sweep-mcp-tools.ts';
import { sweepNotifications } from './notify/sweep-notifications.ts';
import { fireDuePlans } from './plans/fire-due-plans.ts';
import { sweepArtifacts } from './retention/sweep-artifacts.ts';
import { sweepMessages } from './retention/sweep-messages.ts';
import { sweepRuns } from './retention/sweep-runs.ts';
import { sweepRequestTexts } from './runs/sweep-request-texts.ts';
import { updateIndex } from './search/update-index.ts';
import { sweepStreams } from './streams/sweep-streams.ts';
import { foldUsage } from './usage/fold-usage.ts';

/**
 * The periodic tasks: fire due plans, expire calls, offer lapsed jobs again, and delete old stream events, conversations, texts,
 * messages, runs, artifacts, entries of the audit, notifications and unlisted tools, add up what models were asked, erase what was
 * ordered, and add to the index of full-text search.
 */
export function sweepsOf(services: Services & ErasureServices): readonly (() => Promise<unknown>)[] {
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
    () => performErasures(services),
    () => sweepMessages(services),
    () => sweepRuns(services),
    () => sweepArtifacts(services),
    () => sweepNotifications(services),
    () => updateIndex(services),
  ];
}
