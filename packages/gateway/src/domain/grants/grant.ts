import type { Selectable } from 'kysely';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { GrantRow } from '../../ports/store/schema/tables.ts';
import type { Condition } from './condition.ts';

/** How long a grant lasts: until the run ends that continues with the approval, for an hour, or until it is revoked. */
type GrantLength = GrantRow['lasts'];

/** What a person asks for together with an approval. */
export interface GrantRequest {
  readonly for: GrantLength;
  readonly conditions?: readonly Condition[] | undefined;
}

/** Approval of later calls, given with the approval of one call. It covers calls of one tool of one agent. */
export interface Grant {
  readonly id: string;
  readonly agentId: string;
  readonly toolName: string;
  readonly for: GrantLength;
  readonly conditions: readonly Condition[];
  /** `thread`: only calls in the same space or conversation as the call that was approved. */
  readonly reach: GrantRow['reach'];
  readonly callId: string;
  readonly runId: string;
  readonly spaceId?: string;
  readonly grantedBy: string;
  /** Set if a person or a service gave it. */
  readonly grantedByName?: string;
  readonly createdAt: number;
  readonly expiresAt?: number;
  readonly status: 'active' | 'ended';
  readonly endedAt?: number;
  readonly endReason?: GrantEnd;
  readonly endedBy?: string;
  /** How many calls ran because of it. */
  readonly uses: number;
  readonly lastUsedAt?: number;
}

type GrantEnd = NonNullable<GrantRow['end_reason']>;

/** A row, with what is found out when it is read. */
export interface ReadGrant extends Selectable<GrantRow> {
  /** 1 for a grant that still covers calls. */
  readonly is_active: number | boolean;
  readonly granted_by_name: string | null;
}

export function toGrant(row: ReadGrant): Grant {
  const isActive = Boolean(row.is_active);
  return {
    id: row.id,
    agentId: row.agent_id,
    toolName: row.tool_name,
    for: row.lasts,
    conditions: fromJson(row.conditions),
    reach: row.reach,
    callId: row.call_id,
    runId: row.run_id,
    ...(row.space_id === null ? {} : { spaceId: row.space_id }),
    grantedBy: row.granted_by,
    ...(row.granted_by_name === null ? {} : { grantedByName: row.granted_by_name }),
    createdAt: row.created_at,
    ...(row.expires_at === null ? {} : { expiresAt: row.expires_at }),
    status: isActive ? 'active' : 'ended',
    ...(isActive ? {} : endOf(row)),
    uses: row.uses,
    ...(row.last_used_at === null ? {} : { lastUsedAt: row.last_used_at }),
  };
}

function endOf({ lasts, ended_at, end_reason, ended_by, expires_at }: ReadGrant): Partial<Grant> {
  if (end_reason !== null)
    return {
      endReason: end_reason,
      ...(ended_at === null ? {} : { endedAt: ended_at }),
      ...(ended_by === null ? {} : { endedBy: ended_by }),
    };
  if (lasts === 'run') return { endReason: 'run_ended' };
  return { endReason: 'expired', ...(expires_at === null ? {} : { endedAt: expires_at }) };
}
