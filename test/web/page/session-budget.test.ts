import { SessionBudget } from '../../../src/web/page/session-budget';

it('a user has 60 forms a minute in all sessions together, another user has their own', async () => {
  const budget = new SessionBudget();
  const send = (id: string, userId: string) => {
    const user = { id: userId, email: `${userId}@toko.test`, name: userId, language: 'id' as const };
    return budget.count({ id, stage: 'full', user, membership: null }, 'post');
  };
  for (let count = 0; count < 60; count += 1) await send(`session-${count}`, 'siti');
  const rejection = { problem: 'too_many_requests', headers: { 'Retry-After': expect.stringMatching(/^\d+$/) } };
  await expect(send('another session', 'siti')).rejects.toMatchObject(rejection);
  await send('session-1', 'budi');
});
