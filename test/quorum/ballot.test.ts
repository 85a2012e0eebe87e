import { CallFailure } from '../../src/servers/call-failure.ts'
import { Ballot, type Decided, type Vote } from '../../src/servers/quorum/ballot.ts'
import type { Reply } from '../../src/servers/reply.ts'
import { eventually } from '../support/eventually.ts'

/** A ballot that ends after two answers `yes`. After an answer `no`, it is almost decided. */
class TestBallot extends Ballot<string, string> {
  readonly replies = new Map<string, Reply<string>>()
  readonly lateVotes: string[] = []
  readonly decisions: string[] = []

  protected request(member: string, reply: Reply<string>): void {
    this.replies.set(member, reply)
  }

  protected isDecided(): Decided {
    const count = (word: string) => this.votes.filter(({ answer }) => answer === word).length
    return count('yes') >= 2 || (count('no') > 0 && 'nearly')
  }

  protected decided(): void {
    this.decisions.push(this.votes.map(({ member }) => member).join())
  }

  protected override late({ member }: Vote<string, string | CallFailure>): void {
    this.lateVotes.push(member)
  }

  answer(member: string, word: string): void {
    this.replies.get(member)?.answered(word)
  }

  fail(member: string): void {
    this.replies.get(member)?.failed(new CallFailure('unknown', 'no answer'))
  }
}

function startedBallot(members = ['a', 'b', 'c'], graceFactor = 1): TestBallot {
  const ballot = new TestBallot(members)
  ballot.start(graceFactor)
  return ballot
}

test('a ballot decides once, with the votes that arrived before the decision', () => {
  const ballot = startedBallot()
  ballot.answer('c', 'yes')
  expect(ballot.decisions).toEqual([])
  ballot.answer('a', 'yes')
  ballot.answer('b', 'yes')
  expect(ballot.decisions).toEqual(['c,a'])
  expect(ballot.lateVotes).toEqual(['b'])
})

test('a ballot without a majority decides with the last vote, and counts a failure as a vote', () => {
  const ballot = startedBallot()
  ballot.fail('a')
  ballot.answer('b', 'yes')
  expect(ballot.decisions).toEqual([])
  ballot.fail('c')
  expect(ballot.decisions).toEqual(['a,b,c'])
})

test('a ballot that is nearly decided waits for more votes, but only for a short time', async () => {
  const ballot = startedBallot()
  ballot.answer('a', 'no')
  expect(ballot.decisions).toEqual([])
  ballot.answer('b', 'yes')
  await eventually(() => ballot.decisions.length === 1)
  ballot.answer('c', 'yes')
  expect(ballot.decisions).toEqual(['a,b'])
  expect(ballot.lateVotes).toEqual(['c'])
})

test('a majority ends the wait of a ballot that was nearly decided', () => {
  const ballot = startedBallot(['a', 'b', 'c', 'd'], 1_000)
  ballot.answer('a', 'no')
  ballot.answer('b', 'yes')
  expect(ballot.decisions).toEqual([])
  ballot.answer('c', 'yes')
  expect(ballot.decisions).toEqual(['a,b,c'])
})
