/** Pages that operators seldom open. They are loaded together when somebody opens one: singly they would be many small files. */
export { AlertPage } from '../access/alert-page.tsx';
export { Alerts } from '../access/alerts.tsx';
export { Audit } from '../access/audit.tsx';
export { Integrations } from '../access/integrations.tsx';
export { People } from '../access/people.tsx';
export { WebhookPage } from '../access/webhook-page.tsx';
export { Webhooks } from '../access/webhooks.tsx';
export { Agents } from '../agents/agents.tsx';
