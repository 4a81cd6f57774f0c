package transcript

import (
	"slices"

	"bureau/internal/fault"
)

// labels are the words of a transcript in one language.
type labels struct {
	title, noTopic               string
	file, topic, opened          string
	turn, queue, purpose, closed string
	handle, name, status, joined string
	thread, system, relayed      string
	whisper, proposal            string
	vote, result, closing        string
	invited, present, away, gone string
	stayed                       string
	more                         string // %d others in the table
	colon                        string
}

var languages = map[string]*labels{
	"en": {
		title: "Multi-Agent Room", noTopic: "Multi-agent discussion",
		file: "File", topic: "Topic", opened: "Opened",
		turn: "Has the floor", queue: "Queue", purpose: "Purpose", closed: "Closed",
		handle: "Handle", name: "Name", status: "Status", joined: "Joined",
		thread: "Discussion", system: "System", relayed: "relayed by %s",
		whisper: "Private message", proposal: "Proposal",
		vote: "Vote", result: "Result", closing: "Closed",
		invited: "invited", present: "present", away: "away", gone: "left", stayed: "there to the end",
		more: "and %d more", colon: ":",
	},
	"fr": {
		title: "Multi-Agent Room", noTopic: "Discussion multi-agents",
		file: "Fichier", topic: "Sujet", opened: "Initialisé le",
		turn: "Parole", queue: "File d'attente", purpose: "Objectif", closed: "Clos le",
		handle: "Handle", name: "Nom", status: "Statut", joined: "Rejoint le",
		thread: "Fil de discussion", system: "Système", relayed: "relayé par %s",
		whisper: "Message Privé", proposal: "Proposition",
		vote: "Vote", result: "Résultat", closing: "Clôture",
		invited: "invité", present: "présent", away: "absent", gone: "parti", stayed: "là jusqu'à la fin",
		more: "et %d autres", colon: " :",
	},
	"de": {
		title: "Multi-Agenten-Raum", noTopic: "Diskussion mehrerer Agenten",
		file: "Datei", topic: "Thema", opened: "Eröffnet am",
		turn: "Hat das Wort", queue: "Warteschlange", purpose: "Zweck", closed: "Geschlossen am",
		handle: "Handle", name: "Name", status: "Status", joined: "Beigetreten am",
		thread: "Gesprächsverlauf", system: "System", relayed: "weitergegeben von %s",
		whisper: "Private Nachricht", proposal: "Antrag",
		vote: "Stimme", result: "Ergebnis", closing: "Schluss",
		invited: "eingeladen", present: "anwesend", away: "abwesend", gone: "gegangen", stayed: "bis zum Schluss da",
		more: "und %d weitere", colon: ":",
	},
	"es": {
		title: "Sala multiagente", noTopic: "Conversación multiagente",
		file: "Archivo", topic: "Tema", opened: "Abierta el",
		turn: "Tiene la palabra", queue: "Cola", purpose: "Objetivo", closed: "Cerrada el",
		handle: "Identificador", name: "Nombre", status: "Estado", joined: "Se unió el",
		thread: "Hilo de la conversación", system: "Sistema", relayed: "transmitido por %s",
		whisper: "Mensaje privado", proposal: "Propuesta",
		vote: "Voto", result: "Resultado", closing: "Cierre",
		invited: "invitado", present: "presente", away: "ausente", gone: "se fue", stayed: "hasta el cierre",
		more: "y %d más", colon: ":",
	},
	"pt": {
		title: "Sala multiagente", noTopic: "Conversa multiagente",
		file: "Arquivo", topic: "Tema", opened: "Aberta em",
		turn: "Tem a palavra", queue: "Fila", purpose: "Objetivo", closed: "Encerrada em",
		handle: "Identificador", name: "Nome", status: "Estado", joined: "Entrou em",
		thread: "Fio da conversa", system: "Sistema", relayed: "transmitido por %s",
		whisper: "Mensagem privada", proposal: "Proposta",
		vote: "Voto", result: "Resultado", closing: "Encerramento",
		invited: "convidado", present: "presente", away: "ausente", gone: "saiu", stayed: "até o encerramento",
		more: "e mais %d", colon: ":",
	},
	"ru": {
		title: "Комната агентов", noTopic: "Обсуждение агентов",
		file: "Файл", topic: "Тема", opened: "Открыта",
		turn: "Слово имеет", queue: "Очередь", purpose: "Цель", closed: "Закрыта",
		handle: "Участник", name: "Имя", status: "Статус", joined: "Время входа",
		thread: "Ход обсуждения", system: "Система", relayed: "передано через %s",
		whisper: "Личное сообщение", proposal: "Предложение",
		vote: "Голос", result: "Итог", closing: "Закрытие",
		invited: "приглашён", present: "здесь", away: "отсутствует", gone: "вышел", stayed: "до конца",
		more: "и ещё %d", colon: ":",
	},
}

// Languages lists the codes that [Spec] knows, in alphabetical order.
func Languages() []string {
	codes := make([]string, 0, len(languages))
	for code := range languages {
		codes = append(codes, code)
	}
	slices.Sort(codes)
	return codes
}

func language(code string) (string, *labels, error) {
	if code == "" {
		code = "en"
	}
	if l := languages[code]; l != nil {
		return code, l, nil
	}
	return "", nil, fault.New(fault.Invalid, "no labels in the language %q", code).WithHint("known are %v", Languages())
}

// of gives the word for a status.
func (l *labels) of(s Status) string {
	switch s {
	case Invited:
		return l.invited
	case Present:
		return l.present
	case Away:
		return l.away
	case Left:
		return l.gone
	case Stayed:
		return l.stayed
	}
	return plain(string(s), 40)
}

// noticeStart begins the first line of a notice, behind the quote sign.
func (l *labels) noticeStart() string { return "🔔 **" + l.system + l.colon + "** " }
