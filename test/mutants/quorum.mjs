/** Mistakes with several masters: votes, agreement, rest, repair. */
const SCRIPTS = 'test/lua/scripts.test.ts'

export const quorum = [
  {
    id: 'half-is-enough',
    mistake: 'Less than a majority of the masters elects a holder.',
    file: 'src/servers/quorum/majority.ts',
    search: 'this.majority = Math.floor(all / 2) + 1',
    replace: 'this.majority = Math.max(1, Math.floor(all / 2))',
    test: 'test/quorum/red-lock.test.ts',
    name: 'is not had without a majority, and says why for each server',
  },
  {
    id: 'no-agreement',
    mistake: 'A holder goes on before a majority knows its token.',
    file: 'src/servers/quorum/token-agreement.ts',
    search: '    if (known >= this.#majority) return grant\n',
    replace: '    if (known > 0) return grant\n',
    test: 'test/quorum/lost-replies.test.ts',
    name: 'an agreement that no majority confirms is no lock',
  },
  {
    id: 'any-vote-is-the-token',
    mistake: 'The token is the lowest of the votes, and not the highest.',
    file: 'src/servers/quorum/token-agreement.ts',
    search: 'const token = Math.max(...granted.map(({ answer }) => answer.token))',
    replace: 'const token = Math.min(...granted.map(({ answer }) => answer.token))',
    test: 'test/quorum/votes.test.ts',
    name: 'rise above every counter of a majority, however far they were set apart',
  },
  {
    id: 'agree-for-anybody',
    mistake: "A master takes over a token although the lock is not its owner's there any more.",
    file: 'lua/quorum/agree.lua',
    search: `if redis.call('HEXISTS', lock, owner) == 0 then
  return 0
end
`,
    replace: '',
    test: SCRIPTS,
    name: 'agree raises the counter for whoever has the lock, and never lowers it',
  },
  {
    id: 'votes-not-given-back',
    mistake: 'An attempt that came to nothing leaves its votes with the masters that gave them.',
    file: 'src/servers/quorum/token-agreement.ts',
    search: 'if (vote !== undefined && !isGranted(vote)) continue',
    replace: 'if (vote !== undefined) continue',
    test: 'test/quorum/votes.test.ts',
    name: 'that granted to one who did not win is free again at once',
  },
  {
    id: 'late-votes-kept',
    mistake: 'A vote whose answer comes after the attempt was given up stays.',
    file: 'src/servers/quorum/attempts.ts',
    search: 'if (releasedAtMs >= doubtUntilMs) return',
    replace: 'if (releasedAtMs >= 0) return',
    test: 'test/quorum/attempts.test.ts',
    name: 'a name that is released while a request in it may yet come is released once more behind that',
  },
  {
    id: 'unheard-vote-kept-on-refusal',
    mistake: 'Where a majority refuses for good a vote that was not heard is not given back.',
    file: 'src/servers/quorum/quorum-lock.ts',
    search: `      // Nobody asks again: also what was not heard is given back.
      agreement.abandon(keys, owner, callMs)
`,
    replace: '',
    test: 'test/quorum/owed-releases.test.ts',
    name: 'a vote that was not heard is given back where a majority refuses for good',
  },
  {
    id: 'release-told-once',
    mistake: 'A release that one master did not hear is not told it again.',
    file: 'src/servers/quorum/owed-releases.ts',
    search:
      'if (this.#open.delete(debt) && !(failure as CallFailure).permanent) this.#open.add(debt)',
    replace: 'this.#open.delete(debt)',
    test: 'test/quorum/owed-releases.test.ts',
    name: 'gets there when a master that was',
  },
  {
    id: 'freed-behind-is-lost',
    mistake:
      'A lock that a release freed in the background, while no majority could be told, counts as lost.',
    file: 'src/servers/quorum/owed-releases.ts',
    search: 'return this.#freed.has(owner)',
    replace: 'return false',
    test: 'test/quorum/owed-releases.test.ts',
    name: 'counts as done where it is told in the background once they',
  },
  {
    id: 'look-frees-valid-hold',
    mistake:
      'A look of which the holder does not hear frees what too few masters have of a hold that is valid.',
    file: 'src/servers/quorum/quorum.ts',
    search: 'void this.#renew(leases, 0, callMs, () => {})',
    replace: 'void this.renew(leases, 0, callMs)',
    test: 'test/quorum/repairs.test.ts',
    name: 'is let go nowhere while its holder believes in it',
  },
  {
    id: 'no-rest',
    mistake: 'A master that may have forgotten leases votes at once.',
    file: 'lua/parts/acquire.lua',
    search: 'elseif tonumber(sinceUs) > nowUs then',
    replace: 'elseif tonumber(sinceUs) < 0 then',
    test: SCRIPTS,
    name: 'vote is refused before the master was told since when it votes, and until then',
  },
  {
    id: 'mark-of-another',
    mistake: 'A master votes by a mark that was written for another process or for its old master.',
    file: 'lua/parts/acquire.lua',
    search: 'if not replId or replId ~= replicationId() or longest - vote.longestMs < 0 then',
    replace: 'if not replId or longest - vote.longestMs < 0 then',
    test: 'test/quorum/failover.test.ts',
    name: 'a master that was a replica for a moment does not vote, also for a client that noticed nothing',
  },
  {
    id: 'longer-lease-not-told',
    mistake: 'A master votes for a lease that is longer than any that it would rest for.',
    file: 'lua/parts/acquire.lua',
    search: 'if not replId or replId ~= replicationId() or longest - vote.longestMs < 0 then',
    replace: 'if not replId or replId ~= replicationId() then',
    test: SCRIPTS,
    name: 'vote is refused to a client with longer leases than the master knows of, until it is told',
  },
  {
    id: 'disk-of-replica-trusted',
    mistake: 'A replica that took over counts as one that wrote down all that it ever said.',
    file: 'lua/quorum/enrol.lua',
    search: 'durable = durable and isAlone\n',
    replace: '',
    test: 'test/quorum/failover.test.ts',
    name: 'a replica that lags and takes over does not vote, whatever it writes to its disk',
  },
  {
    id: 'used-masters-are-new',
    mistake: 'A deployment counts as new although a master of it has been used.',
    file: 'src/servers/quorum/new-quorum.ts',
    search: '    if (!unused.includes(false)) {\n',
    replace: '    if (unused.includes(true)) {\n',
    test: 'test/quorum/delayed-restart.test.ts',
    name: 'one that forgot later is not new, whatever the client was told',
  },
  {
    id: 'renewed-by-one',
    mistake: 'A lease goes on as long as one master renews it.',
    file: 'src/servers/quorum/majority.ts',
    search: `    if (left.length >= this.majority) {
      const sure = left.sort((a, b) => b - a)[this.majority - 1] as number`,
    replace: `    if (left.length > 0) {
      const sure = left.sort((a, b) => b - a)[Math.min(this.majority, left.length) - 1] as number`,
    test: 'test/quorum/votes.test.ts',
    name: 'a lease that one of three masters has, and two do not, is lost with the next renewal',
  },
  {
    id: 'best-lease-counts',
    mistake: 'Of a renewed lease the longest that any master has counts.',
    file: 'src/servers/quorum/majority.ts',
    search: 'const sure = left.sort((a, b) => b - a)[this.majority - 1] as number',
    replace: 'const sure = left.sort((a, b) => b - a)[0] as number',
    test: 'test/quorum/quorum.test.ts',
    name: 'of a lease is left what a majority has for sure',
  },
  {
    id: 'no-repair',
    mistake: 'A master that did not grant a lock is not asked again before the next renewal.',
    file: 'src/servers/quorum/repairs.ts',
    search: '      if (this.#isMissed) this.#repairs.add(lease())\n',
    replace: '',
    test: 'test/quorum/repairs.test.ts',
    name: 'is given to the others as soon as a split that held them is over',
  },
  {
    id: 'late-restore-runs',
    mistake: 'A lock is given back to a master by a request that comes after the hold is over.',
    file: 'lua/quorum/restore.lua',
    search: `if isLate(notAfterUs) then
  return { 'late', serverTimeText() }
end
`,
    replace: '',
    test: SCRIPTS,
    name: 'restore that comes too late does nothing',
  },
  {
    id: 'force-is-repaired',
    mistake: 'A holder from whom the lock was taken by force gives it back to itself.',
    file: 'lua/quorum/restore.lua',
    search: `if redis.call('HEXISTS', forced, owner) == 1 then
  return { 'gone' }
end
`,
    replace: '',
    test: 'test/quorum/force-unlock.test.ts',
    name: 'forceUnlock() on a bare majority is not undone by a holder who is giving a master the lock back',
  },
  {
    id: 'waits-for-the-silent',
    mistake: 'Where the votes are split the masters that are silent are waited for all the same.',
    file: 'src/servers/quorum/quorum-lock.ts',
    search: "return (some.length - granted > spare || isSplit(some, majority)) && 'nearly'",
    replace:
      "return some.length - granted > spare + majority && isSplit(some, majority) && 'nearly'",
    test: 'test/quorum/contention.test.ts',
    name: 'keeps no votes from others that came to nothing',
  },
  {
    id: 'vote-after-close',
    mistake: 'A closed client goes on to ask masters that another client connects.',
    file: 'src/servers/quorum/master.ts',
    search:
      "if (this.#closed) return Promise.reject(new CallFailure('closed', 'the client was closed'))",
    replace: '',
    test: 'test/quorum/red-lock.test.ts',
    name: 'is not asked for any more when its client was closed, by those that are connected only then',
  },
  {
    id: 'one-server-two-votes',
    mistake: 'Two addresses of one server count as two masters.',
    file: 'src/servers/quorum/master.ts',
    search: "if (other === this || runId === '' || other.server.runner.runId !== runId) continue",
    replace: "if (other === this || runId !== '') continue",
    test: 'test/quorum/red-lock.test.ts',
    name: 'when two clients turn out to be of one server, whose one vote is not counted twice',
  },
  {
    id: 'one-word-is-a-release',
    mistake: 'Who waits asks again for each master that tells of one release.',
    file: 'src/servers/quorum/majority-wake-up.ts',
    search: 'const isLate = !this.#heard.has(master) && now - this.#startedAt < roundMs',
    replace: 'const isLate = now - this.#startedAt > roundMs',
    test: 'test/quorum/contention.test.ts',
    name: 'asks each master once for one release, however many tell of it',
  },
]
